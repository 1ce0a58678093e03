// go-openai and openai-go: PROGRAM BASE, where BASE is the server's address without /v1. A case is a line for table.py: the package, CELL,
// CASE and `ok` or what went wrong, with tabs between them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	openai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
	goopenai "github.com/sashabaranov/go-openai"
)

const question = "What is the capital of France? Answer with one word."
const model = "any-name"

// What programs ask for. The two packages and their helpers write schemas of this kind.
var shapes = []struct{ name, schema string }{
	{"dates and maps", `{"type":"object","properties":{"day":{"type":"string","format":"date-time"},"seats":{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}},"required":["day","seats"],"additionalProperties":false}`},
	{"tuples", `{"type":"object","properties":{"at":{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"minItems":2,"maxItems":2}},"required":["at"],"additionalProperties":false}`},
	{"any integer, ranged float, null", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/Score","$defs":{"Score":{"type":"object","properties":{"count":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807},"share":{"type":"number","minimum":0,"maximum":1},"rank":{"anyOf":[{"type":"integer","enum":[1,2,3]},{"type":"null"}]}},"required":["count","share","rank"],"additionalProperties":false}}}`},
}

func show(pkg, cell, name string, err error) {
	why := "ok"
	if err != nil {
		why = strings.Join(strings.Fields(err.Error()), " ")
	}
	fmt.Printf("%s\t%s\t%s\t%.600s\n", pkg, cell, name, why)
}

func needs(good bool, err error, why any) error {
	if err == nil && !good {
		return fmt.Errorf("unexpected: %+v", why)
	}
	return err
}

// Whether a text is an object that has what its schema requires.
func holds(text, schema string) error {
	var got map[string]any
	var want struct{ Required []string }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	json.Unmarshal([]byte(schema), &want)
	for _, name := range want.Required {
		if _, there := got[name]; !there {
			return errors.New(name + " is missing: " + text)
		}
	}
	return nil
}

func community(base string) {
	const pkg = "go-openai"
	ctx := context.Background()
	connect := func(base string) *goopenai.Client {
		settings := goopenai.DefaultConfig("secret")
		settings.BaseURL = base
		return goopenai.NewClientWithConfig(settings)
	}
	client := connect(base + "/v1")
	ask := goopenai.ChatCompletionRequest{Model: model, Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: question}}}
	short := ask
	short.MaxTokens = 8
	for name, c := range map[string]*goopenai.Client{"a reply": client, "a base address without /v1": connect(base)} {
		r, err := c.CreateChatCompletion(ctx, short)
		show(pkg, "chat", name, needs(err != nil || r.Choices[0].Message.Content != "", err, r))
	}
	models, err := client.ListModels(ctx)
	if err == nil {
		_, err = client.GetModel(ctx, models.Models[0].ID)
	}
	show(pkg, "chat", "the model by its name", err)

	n := 0
	stream, err := client.CreateChatCompletionStream(ctx, short)
	for err == nil {
		if _, err = stream.Recv(); err == nil {
			n++
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	show(pkg, "stream", "pieces", needs(n > 2, err, n))

	for _, s := range shapes {
		with := ask
		tool := goopenai.FunctionDefinition{Name: "report", Description: "A report", Parameters: json.RawMessage(s.schema)}
		with.Tools = []goopenai.Tool{{Type: goopenai.ToolTypeFunction, Function: &tool}}
		with.ToolChoice = goopenai.ToolChoice{Type: goopenai.ToolTypeFunction, Function: goopenai.ToolFunction{Name: "report"}}
		r, err := client.CreateChatCompletion(ctx, with)
		if err == nil && len(r.Choices[0].Message.ToolCalls) != 1 {
			err = fmt.Errorf("no call: %+v", r)
		}
		if err == nil {
			err = holds(r.Choices[0].Message.ToolCalls[0].Function.Arguments, s.schema)
		}
		if err == nil {
			back := short
			back.Tools = with.Tools
			back.Messages = append(append([]goopenai.ChatCompletionMessage{}, ask.Messages...), r.Choices[0].Message,
				goopenai.ChatCompletionMessage{Role: "tool", Content: "Done.", ToolCallID: r.Choices[0].Message.ToolCalls[0].ID})
			_, err = client.CreateChatCompletion(ctx, back)
		}
		show(pkg, "tools", s.name, err)

		held := ask
		held.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &goopenai.ChatCompletionResponseFormatJSONSchema{Name: "it", Schema: json.RawMessage(s.schema), Strict: true}}
		r, err = client.CreateChatCompletion(ctx, held)
		if err == nil {
			err = holds(r.Choices[0].Message.Content, s.schema)
		}
		show(pkg, "structured", s.name, err)

		held.Tools = with.Tools
		r, err = client.CreateChatCompletion(ctx, held)
		show(pkg, "structured", "tools beside a structured answer: "+s.name, needs(err != nil || len(r.Choices[0].Message.ToolCalls) == 1 ||
			holds(r.Choices[0].Message.Content, s.schema) == nil, err, r))
	}
	for name, input := range map[string]any{"texts": []string{"a cat", "a dog"}, "a text": "a cat", "token lists": [][]int{{5, 6}, {7}}} {
		r, err := client.CreateEmbeddings(ctx, goopenai.EmbeddingRequest{Input: input, Model: model})
		show(pkg, "embeddings", name, needs(err != nil || len(r.Data) > 0 && len(r.Data[0].Embedding) > 16, err, r))
	}
}

func official(base string) {
	const pkg = "openai-go"
	ctx := context.Background()
	client := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("secret"), option.WithMaxRetries(0))
	bare := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("secret"), option.WithMaxRetries(0))
	ask := openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}}
	short := ask
	short.MaxTokens = openai.Int(8)
	for name, c := range map[string]openai.Client{"a reply": client, "a base address without /v1": bare} {
		r, err := c.Chat.Completions.New(ctx, short)
		show(pkg, "chat", name, needs(err != nil || r.Choices[0].Message.Content != "", err, r))
	}
	stream := client.Chat.Completions.NewStreaming(ctx, short)
	gathered := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		gathered.AddChunk(stream.Current())
	}
	show(pkg, "stream", "gathered by the package", needs(len(gathered.Choices) == 1 && gathered.Choices[0].Message.Content != "", stream.Err(), gathered))

	for _, s := range shapes {
		var schema map[string]any
		json.Unmarshal([]byte(s.schema), &schema)
		with := ask
		with.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "report", Parameters: schema, Strict: openai.Bool(true)})}
		with.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")}
		r, err := client.Chat.Completions.New(ctx, with)
		if err == nil && len(r.Choices[0].Message.ToolCalls) != 1 {
			err = fmt.Errorf("no call: %+v", r)
		}
		if err == nil {
			err = holds(r.Choices[0].Message.ToolCalls[0].Function.Arguments, s.schema)
		}
		if err == nil {
			back := short
			back.Tools = with.Tools
			back.Messages = append(append([]openai.ChatCompletionMessageParamUnion{}, ask.Messages...), r.Choices[0].Message.ToParam(),
				openai.ToolMessage("Done.", r.Choices[0].Message.ToolCalls[0].ID))
			_, err = client.Chat.Completions.New(ctx, back)
		}
		show(pkg, "tools", s.name, err)

		held := ask
		held.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "it", Schema: schema, Strict: openai.Bool(true)}}}
		r, err = client.Chat.Completions.New(ctx, held)
		if err == nil {
			err = holds(r.Choices[0].Message.Content, s.schema)
		}
		show(pkg, "structured", s.name, err)

		held.Tools = with.Tools
		r, err = client.Chat.Completions.New(ctx, held)
		show(pkg, "structured", "tools beside a structured answer: "+s.name, needs(err != nil || len(r.Choices[0].Message.ToolCalls) == 1 ||
			holds(r.Choices[0].Message.Content, s.schema) == nil, err, r))
	}
	for name, input := range map[string]openai.EmbeddingNewParamsInputUnion{"texts": {OfArrayOfStrings: []string{"a cat", "a dog"}},
		"a text": {OfString: openai.String("a cat")}, "token lists": {OfArrayOfTokenArrays: [][]int64{{5, 6}, {7}}}} {
		r, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{Input: input, Model: model})
		show(pkg, "embeddings", name, needs(err != nil || len(r.Data) > 0 && len(r.Data[0].Embedding) > 16, err, r))
	}
}

func main() {
	community(os.Args[1])
	official(os.Args[1])
}
