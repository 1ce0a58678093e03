// async-openai: PROGRAM BASE, where BASE is the server's address without /v1. A case is a line for table.py: CELL, CASE and `ok` or what
// went wrong, with tabs between them.
use async_openai::{
    config::OpenAIConfig,
    types::chat::{
        ChatCompletionMessageToolCalls, ChatCompletionNamedToolChoice, ChatCompletionRequestMessage, ChatCompletionRequestUserMessage,
        ChatCompletionTool, ChatCompletionToolChoiceOption, ChatCompletionTools, CreateChatCompletionRequest, FunctionName,
        FunctionObject, ResponseFormat, ResponseFormatJsonSchema,
    },
    types::embeddings::{CreateEmbeddingRequest, EmbeddingInput},
    Client,
};
use futures::StreamExt;
use serde_json::{json, Value};
use std::error::Error;

type Outcome = Result<(), Box<dyn Error>>;

const MODEL: &str = "any-name";

fn show(cell: &str, name: &str, outcome: Outcome) {
    let why = match outcome {
        Ok(()) => "ok".to_string(),
        Err(error) => format!("{error:?}").split_whitespace().collect::<Vec<_>>().join(" ").chars().take(600).collect(),
    };
    println!("{cell}\t{name}\t{why}");
}

fn needs(good: bool, why: String) -> Outcome {
    if good { Ok(()) } else { Err(why.into()) }
}

fn ask() -> CreateChatCompletionRequest {
    let said = ChatCompletionRequestUserMessage::from("What is the capital of France? Answer with one word.");
    CreateChatCompletionRequest { model: MODEL.into(), messages: vec![ChatCompletionRequestMessage::User(said)], ..Default::default() }
}

#[allow(deprecated)]
fn short() -> CreateChatCompletionRequest {
    CreateChatCompletionRequest { max_tokens: Some(8), ..ask() }
}

/// Whether a text is an object that has what its schema requires.
fn holds(text: &str, schema: &Value) -> Outcome {
    let got: Value = serde_json::from_str(text)?;
    needs(schema["required"].as_array().unwrap().iter().all(|name| got.get(name.as_str().unwrap()).is_some()), got.to_string())
}

async fn chat(base: &str) -> Outcome {
    let r = client(base).chat().create(short()).await?;
    needs(r.choices[0].message.content.is_some(), format!("{r:?}"))
}

async fn stream(client: &Client<OpenAIConfig>) -> Outcome {
    let mut pieces = client.chat().create_stream(short()).await?;
    let mut text = String::new();
    while let Some(piece) = pieces.next().await {
        for choice in piece?.choices {
            text += &choice.delta.content.unwrap_or_default();
        }
    }
    needs(!text.is_empty(), "no text".into())
}

fn with_tool(schema: &Value) -> CreateChatCompletionRequest {
    let function = FunctionObject { name: "report".into(), parameters: Some(schema.clone()), ..Default::default() };
    CreateChatCompletionRequest { tools: Some(vec![ChatCompletionTools::Function(ChatCompletionTool { function })]), ..ask() }
}

fn format_of(schema: &Value) -> Option<ResponseFormat> {
    let json_schema = ResponseFormatJsonSchema { name: "it".into(), description: None, schema: schema.clone(), strict: Some(true) };
    Some(ResponseFormat::JsonSchema { json_schema })
}

async fn tools(client: &Client<OpenAIConfig>, schema: &Value) -> Outcome {
    let named = ChatCompletionNamedToolChoice { function: FunctionName { name: "report".into() } };
    let request = CreateChatCompletionRequest { tool_choice: Some(ChatCompletionToolChoiceOption::Function(named)), ..with_tool(schema) };
    let r = client.chat().create(request).await?;
    match r.choices[0].message.tool_calls.as_deref() {
        Some([ChatCompletionMessageToolCalls::Function(call)]) => holds(&call.function.arguments, schema),
        _ => Err(format!("no call: {r:?}").into()),
    }
}

async fn structured(client: &Client<OpenAIConfig>, schema: &Value, beside: bool) -> Outcome {
    let request = if beside { with_tool(schema) } else { ask() };
    let r = client.chat().create(CreateChatCompletionRequest { response_format: format_of(schema), ..request }).await?;
    let said = &r.choices[0].message;
    match &said.content {
        Some(text) => holds(text, schema),
        None => needs(beside && said.tool_calls.is_some(), format!("{r:?}")),
    }
}

async fn embeddings(client: &Client<OpenAIConfig>, input: EmbeddingInput) -> Outcome {
    let r = client.embeddings().create(CreateEmbeddingRequest { model: MODEL.into(), input, ..Default::default() }).await?;
    needs(r.data.len() == 2 && r.data[0].embedding.len() > 16, format!("{}", r.data.len()))
}

fn client(base: &str) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(base).with_api_key("secret"))
}

#[tokio::main]
async fn main() {
    let base = std::env::args().nth(1).expect("usage: PROGRAM BASE");
    let v1 = format!("{base}/v1");
    let client = client(&v1);
    show("chat", "a reply", chat(&v1).await);
    show("chat", "a base address without /v1", chat(&base).await);
    show("stream", "pieces", stream(&client).await);
    let shapes = [
        ("dates and maps", json!({"type": "object", "properties": {"day": {"type": "string", "format": "date"},
            "seats": {"type": "object", "additionalProperties": {"type": "integer", "format": "uint64", "minimum": 0}, "maxProperties": 3}},
            "required": ["day", "seats"]})),
        ("tuples", json!({"type": "object", "properties": {"at": {"type": "array", "items": [{"type": "integer"}, {"type": "integer"}],
            "minItems": 2, "maxItems": 2}}, "required": ["at"]})),
        ("any integer, ranged float, null", json!({"type": "object", "properties": {"count": {"type": "integer", "format": "int64"},
            "share": {"type": "number", "format": "double", "minimum": 0.0, "maximum": 1.0}, "rank": {"type": ["integer", "null"], "format": "uint8",
            "minimum": 0, "maximum": 255}}, "required": ["count", "share", "rank"]})),
    ];
    for (name, schema) in &shapes {
        show("tools", name, tools(&client, schema).await);
        show("structured", name, structured(&client, schema, false).await);
        show("structured", &format!("tools beside a structured answer: {name}"), structured(&client, schema, true).await);
    }
    show("embeddings", "texts", embeddings(&client, EmbeddingInput::StringArray(vec!["a cat".into(), "a dog".into()])).await);
    show("embeddings", "token lists", embeddings(&client, EmbeddingInput::ArrayOfIntegerArray(vec![vec![5, 6], vec![7]])).await);
}
