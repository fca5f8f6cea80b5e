// A request of the Responses wire in our own words.
import {
  definedFields,
  type Failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import type { Message, ModelRequest, OutputFormat, Tool, ToolChoice } from '../shared/form.ts';
import {
  booleanIn,
  effortIn,
  isJsonList,
  numberIn,
  objectIn,
  objectsIn,
  Problems,
  restOf,
  stringIn,
} from '../shared/read-members.ts';
import { RESPONSES } from './parts.ts';
import { readItem } from './read-items.ts';

const FIX = 'Send a request of the Responses wire: `model` and `input`.';
const KNOWN = [
  'model',
  'input',
  'instructions',
  'tools',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'user',
];

export function readResponsesRequest(body: JsonObject): ModelRequest | Failure {
  const problems = new Problems();
  const model = stringIn(body, 'model');
  if (model === undefined) problems.add('model', 'a string');
  const messages = readInput(body['input'], problems);
  const problem = problems.failure('SUB_WIRE_REQUEST', FIX);
  if (problem !== undefined) return problem;
  const instructions = stringIn(body, 'instructions') ?? '';
  const toolChoice = readChoice(body['tool_choice']);
  const { output, text } = readTextSettings(objectIn(body, 'text'));
  const { reasoning, others } = readReasoning(objectIn(body, 'reasoning'));
  return {
    model: model ?? '',
    system: instructions === '' ? [] : [{ type: 'text', text: instructions }],
    messages,
    tools: objectsIn(body, 'tools').flatMap((tool) => readTools(tool)),
    stopSequences: [],
    isStream: body['stream'] === true,
    ...definedFields({
      toolChoice,
      hasParallelTools: booleanIn(body, 'parallel_tool_calls'),
      maxTokens: numberIn(body, 'max_output_tokens'),
      temperature: numberIn(body, 'temperature'),
      topP: numberIn(body, 'top_p'),
      reasoning,
      output,
      user: stringIn(body, 'user') ?? stringIn(body, 'safety_identifier'),
      rest: restOf(
        RESPONSES,
        { ...body, text, reasoning: others },
        new Set([...KNOWN, ...(toolChoice === undefined ? [] : ['tool_choice'])]),
      ),
    }),
  };
}

function readInput(input: JsonValue | undefined, problems: Problems): readonly Message[] {
  if (typeof input === 'string') {
    return [{ role: 'user', blocks: [{ type: 'text', text: input }] }];
  }
  if (!isJsonList(input)) {
    problems.add('input', 'a string or a list of items');
    return [];
  }
  return input.flatMap((item, index) => {
    const path = `input[${index}]`;
    if (isJsonObject(item)) return [readItem(item, { path, problems })];
    problems.add(path, 'an object');
    return [];
  });
}

const FUNCTION = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const CUSTOM = new Set(['type', 'name', 'description', 'format']);

function readTools(tool: JsonObject): readonly Tool[] {
  const name = stringIn(tool, 'name');
  if (stringIn(tool, 'type') !== 'namespace' || name === undefined) return [readTool(tool)];
  const namespaceDescription = stringIn(tool, 'description');
  return objectsIn(tool, 'tools').map((inner) => {
    const read = readTool(inner);
    return read.kind === 'hosted'
      ? read
      : { ...read, namespace: name, ...definedFields({ namespaceDescription }) };
  });
}

function readTool(tool: JsonObject): Tool {
  const type = stringIn(tool, 'type');
  const name = stringIn(tool, 'name');
  const description = stringIn(tool, 'description');
  if (type === 'function' && name !== undefined) {
    const isStrict = booleanIn(tool, 'strict');
    const rest = restOf(RESPONSES, tool, FUNCTION);
    const schema = objectIn(tool, 'parameters') ?? { type: 'object', properties: {} };
    return { kind: 'function', name, schema, ...definedFields({ description, isStrict, rest }) };
  }
  if (type === 'custom' && name !== undefined) {
    const rest = restOf(RESPONSES, tool, CUSTOM);
    const format = objectIn(tool, 'format');
    return { kind: 'custom', name, ...definedFields({ description, format, rest }) };
  }
  return { kind: 'hosted', wire: RESPONSES, value: tool };
}

function readChoice(choice: JsonValue | undefined): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none') return { kind: choice };
  if (choice === 'required') return { kind: 'any' };
  if (!isJsonObject(choice)) return undefined;
  const type = stringIn(choice, 'type');
  const name = stringIn(choice, 'name');
  const isNamed = (type === 'function' || type === 'custom') && name !== undefined;
  return isNamed ? { kind: 'tool', name } : undefined;
}

/** `text` holds the format, which the form knows, and more, which it doesn't. */
function readTextSettings(text: JsonObject | undefined): {
  readonly output: OutputFormat | undefined;
  readonly text: JsonValue;
} {
  const format = text && objectIn(text, 'format');
  const output = format && readFormat(format);
  if (text === undefined || output === undefined) return { output: undefined, text: text ?? null };
  const { format: _, ...others } = text;
  return { output, text: Object.keys(others).length === 0 ? null : others };
}

function readFormat(format: JsonObject): OutputFormat | undefined {
  if (stringIn(format, 'type') === 'json_object') return { kind: 'json' };
  const schema = objectIn(format, 'schema');
  if (stringIn(format, 'type') !== 'json_schema' || schema === undefined) return undefined;
  const name = stringIn(format, 'name');
  const isStrict = booleanIn(format, 'strict');
  return { kind: 'schema', schema, ...definedFields({ name, isStrict }) };
}

function readReasoning(reasoning: JsonObject | undefined): {
  readonly reasoning: ModelRequest['reasoning'];
  readonly others: JsonValue;
} {
  if (reasoning === undefined) return { reasoning: undefined, others: null };
  const effort = effortIn(reasoning, 'effort');
  const summary = stringIn(reasoning, 'summary');
  const known = new Set([
    ...(effort === undefined ? [] : ['effort']),
    ...(summary === undefined ? [] : ['summary']),
  ]);
  const others = restOf(RESPONSES, reasoning, known)?.members ?? null;
  return known.size === 0
    ? { reasoning: undefined, others }
    : { reasoning: definedFields({ effort, summary }), others };
}
