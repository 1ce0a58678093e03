// langchain4j, and Spring's RestClient with both of its usual request factories: java Clients BASE, where BASE is the server's address
// without /v1. A case is a line for table.py: the client, CELL, CASE and `ok` or what went wrong, with tabs between them.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolSpecifications;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.http.MediaType;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

public class Clients {
    static final String QUESTION = "What is the capital of France? Answer with one word.";
    static final String MODEL = "any-name";

    interface Work {
        void run() throws Exception;
    }

    static void show(String client, String cell, String name, Work work) {
        String why = "ok";
        try {
            work.run();
        } catch (Throwable e) {
            why = e.toString().replaceAll("\\s+", " ");
        }
        System.out.println(String.join("\t", client, cell, name, why.substring(0, Math.min(600, why.length()))));
    }

    static void must(boolean good, Object why) {
        if (!good) throw new IllegalStateException(String.valueOf(why));
    }

    // ---- langchain4j ----

    enum Kind { CORNER, MIDDLE }

    record Place(int x, double y, Kind kind) {}

    record Party(String host, Place place, List<Kind> kinds, Boolean open) {}

    interface Answers {
        Party party(String text);

        long count(String text);

        Kind kind(String text);
    }

    static class Tools {
        @Tool("Report a party")
        String report(LocalDate day, Map<String, Integer> seats, Kind kind, Double share) {
            return "Done.";
        }
    }

    static OpenAiChatModel.OpenAiChatModelBuilder chat(String base) {
        return OpenAiChatModel.builder().baseUrl(base).apiKey("secret").modelName(MODEL).maxRetries(0).timeout(Duration.ofSeconds(120));
    }

    static void langchain4j(String base) {
        String c = "langchain4j", v1 = base + "/v1";
        show(c, "chat", "a reply", () -> must(!chat(v1).maxTokens(8).build().chat(QUESTION).isEmpty(), "empty"));
        show(c, "chat", "a base address without /v1", () -> must(!chat(base).maxTokens(4).build().chat(QUESTION).isEmpty(), "empty"));
        show(c, "stream", "pieces", () -> {
            CompletableFuture<ChatResponse> done = new CompletableFuture<>();
            int[] pieces = {0};
            OpenAiStreamingChatModel.builder().baseUrl(v1).apiKey("secret").modelName(MODEL).maxTokens(8).build().chat(QUESTION, new StreamingChatResponseHandler() {
                public void onPartialResponse(String piece) { pieces[0]++; }
                public void onCompleteResponse(ChatResponse r) { done.complete(r); }
                public void onError(Throwable e) { done.completeExceptionally(e); }
            });
            must(!done.get(120, TimeUnit.SECONDS).aiMessage().text().isEmpty() && pieces[0] > 1, pieces[0]);
        });
        show(c, "tools", "dates, maps, enums; the result goes back", () -> {
            List<ChatMessage> said = List.of(UserMessage.from(QUESTION));
            var tools = ToolSpecifications.toolSpecificationsFrom(Tools.class);
            ChatRequest ask = ChatRequest.builder().messages(said).toolSpecifications(tools).toolChoice(ToolChoice.REQUIRED).build();
            AiMessage called = chat(v1).build().chat(ask).aiMessage();
            must(called.toolExecutionRequests().size() == 1, called);
            JsonNode got = new ObjectMapper().readTree(called.toolExecutionRequests().get(0).arguments());
            must(got.isObject(), got);
            ChatRequest back = ChatRequest.builder().toolSpecifications(tools)
                .messages(said.get(0), called, ToolExecutionResultMessage.from(called.toolExecutionRequests().get(0), "Done.")).build();
            must(chat(v1).maxTokens(8).build().chat(back) != null, back);
        });
        Answers held = AiServices.create(Answers.class, chat(v1).supportedCapabilities(Capability.RESPONSE_FORMAT_JSON_SCHEMA).strictJsonSchema(true).build());
        show(c, "structured", "records, lists, enums", () -> must(held.party(QUESTION) != null, "none"));
        show(c, "structured", "any integer", () -> held.count(QUESTION));
        show(c, "structured", "an enum", () -> must(held.kind(QUESTION) != null, "none"));
        show(c, "structured", "tools beside a structured answer", () -> {
            ChatRequest ask = ChatRequest.builder().messages(UserMessage.from(QUESTION)).toolSpecifications(ToolSpecifications.toolSpecificationsFrom(Tools.class))
                .responseFormat(dev.langchain4j.service.output.JsonSchemas.jsonSchemaFrom(Place.class).map(s -> dev.langchain4j.model.chat.request.ResponseFormat.builder()
                    .type(dev.langchain4j.model.chat.request.ResponseFormatType.JSON).jsonSchema(s).build()).get()).build();
            AiMessage r = chat(v1).build().chat(ask).aiMessage();
            must(r.hasToolExecutionRequests() || new ObjectMapper().readTree(r.text()).isObject(), r); // no member of a record is required
        });
        show(c, "embeddings", "a text, texts", () -> {
            var model = OpenAiEmbeddingModel.builder().baseUrl(v1).apiKey("secret").modelName(MODEL).maxRetries(0).build();
            must(model.embed("a cat").content().dimension() > 16, "too small");
            must(model.embedAll(List.of(TextSegment.from("a cat"), TextSegment.from("a dog"))).content().size() == 2, "not two");
        });
    }

    // ---- Spring's RestClient ----

    static final String SCHEMA = "{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\",\"format\":\"int32\"},\"day\":{\"type\":\"string\",\"format\":\"date\"},"
        + "\"seats\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"},\"maxProperties\":3}},\"required\":[\"count\",\"day\",\"seats\"]}";

    static void spring(String base, ClientHttpRequestFactory factory, String by) {
        String c = "Spring RestClient";
        RestClient client = RestClient.builder().requestFactory(factory).baseUrl(base).defaultHeader("Authorization", "Bearer secret").build();
        ObjectMapper json = new ObjectMapper();
        List<Map<String, String>> messages = List.of(Map.of("role", "user", "content", QUESTION));
        class Asked {
            JsonNode post(String page, Map<String, Object> body) throws Exception {
                return client.post().uri(page).contentType(MediaType.APPLICATION_JSON).body(body).retrieve().body(JsonNode.class);
            }

            JsonNode chat(Map<String, Object> more) throws Exception {
                Map<String, Object> body = new java.util.HashMap<>(more);
                body.put("messages", messages);
                return post("/v1/chat/completions", body).at("/choices/0/message");
            }
        }
        Asked ask = new Asked();
        show(c, "chat", "a reply, " + by, () -> must(!ask.chat(Map.of("max_tokens", 8)).at("/content").asText().isEmpty(), "empty"));
        show(c, "chat", "a base address without /v1, " + by, () ->
            must(ask.post("/chat/completions", Map.of("messages", messages, "max_tokens", 4)).has("choices"), "no choices"));
        show(c, "chat", "the models, " + by, () -> must(client.get().uri("/v1/models").retrieve().body(JsonNode.class).at("/data/0/id").isTextual(), "none"));
        show(c, "stream", "events, " + by, () -> {
            String all = client.post().uri("/v1/chat/completions").contentType(MediaType.APPLICATION_JSON)
                .body(Map.of("messages", messages, "max_tokens", 8, "stream", true)).retrieve().body(String.class);
            must(all.contains("data: [DONE]") && all.contains("\"delta\""), all);
        });
        Object tools = List.of(Map.of("type", "function", "function", Map.of("name", "report", "parameters", tree(json, SCHEMA))));
        Object format = Map.of("type", "json_schema", "json_schema", Map.of("name", "it", "strict", true, "schema", tree(json, SCHEMA)));
        show(c, "tools", "dates and maps, " + by, () -> {
            JsonNode r = ask.chat(Map.of("tools", tools, "tool_choice", "required"));
            must(json.readTree(r.at("/tool_calls/0/function/arguments").asText()).has("seats"), r);
        });
        show(c, "structured", "dates and maps, " + by, () -> {
            JsonNode r = ask.chat(Map.of("response_format", format));
            must(json.readTree(r.at("/content").asText()).has("seats"), r);
        });
        show(c, "structured", "tools beside a structured answer, " + by, () -> {
            JsonNode r = ask.chat(Map.of("response_format", format, "tools", tools));
            must(r.has("tool_calls") || json.readTree(r.at("/content").asText()).has("seats"), r);
        });
        show(c, "embeddings", "texts and token lists, " + by, () -> {
            must(ask.post("/v1/embeddings", Map.of("input", List.of("a cat", "a dog"))).at("/data").size() == 2, "texts");
            must(ask.post("/v1/embeddings", Map.of("input", List.of(List.of(5, 6), List.of(7)))).at("/data").size() == 2, "tokens");
        });
    }

    static JsonNode tree(ObjectMapper json, String text) {
        try {
            return json.readTree(text);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) {
        langchain4j(arguments[0]);
        spring(arguments[0], new JdkClientHttpRequestFactory(), "by the JDK's client");
        spring(arguments[0], new SimpleClientHttpRequestFactory(), "by HttpURLConnection");
    }
}
