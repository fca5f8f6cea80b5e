// A request of the Anthropic wire in our own words.
import {
  definedFields,
  type Failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import type {
  Block,
  Effort,
  Message,
  ModelRequest,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from '../shared/form.ts';
import { MemberReader } from '../shared/member-reader.ts';
import { isJsonList, Problems } from '../shared/read-members.ts';
import { ANTHROPIC, commonParts, readContent } from './read-blocks.ts';

const FIX = 'Send a request of the Messages API: `model` and `messages`.';

export function readAnthropicRequest(body: JsonObject): ModelRequest | Failure {
  const problems = new Problems();
  const members = new MemberReader(body);
  const model = members.string('model');
  if (model === undefined) problems.add('model', 'a string');
  const messages = readMessages(members, problems);
  const system = readSystem(members, problems);
  const tools = readTools(members, problems);
  const stopSequences = members.take('stop_sequences', isTexts) ?? [];
  const fields = definedFields({
    ...readChoice(members, problems),
    maxTokens: members.number('max_tokens'),
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    topK: members.number('top_k'),
    reasoning: readReasoning(members),
    output: readOutput(members),
    user: members.inner('metadata').string('user_id'),
  });
  const isStream = members.is('stream', true);
  const problem = problems.failure('SUB_WIRE_REQUEST', FIX);
  if (problem !== undefined) return problem;
  return {
    model: model ?? '',
    system,
    messages,
    tools,
    stopSequences,
    isStream,
    ...fields,
    ...definedFields({ rest: members.rest(ANTHROPIC) }),
  };
}

/** Texts that are there: an empty list is left, so that it is written as it was. */
function isTexts(value: JsonValue): value is readonly string[] {
  return isJsonList(value) && value.length > 0 && value.every((text) => typeof text === 'string');
}

function readSystem(members: MemberReader, problems: Problems): readonly Block[] {
  const isSystem = (value: JsonValue): value is string | readonly JsonValue[] =>
    value !== null && !(isJsonList(value) && value.length === 0);
  const system = members.take('system', isSystem);
  return system === undefined ? [] : readContent(system, { path: 'system', problems });
}

function readMessages(members: MemberReader, problems: Problems): readonly Message[] {
  const list = members.list('messages');
  if (list === undefined) problems.add('messages', 'a list');
  return (list ?? []).flatMap((value, index) => {
    const path = `messages[${index}]`;
    if (isJsonObject(value)) return readMessage(new MemberReader(value), { path, problems });
    problems.add(path, 'an object');
    return [];
  });
}

const ROLES: ReadonlyMap<string, Message['role']> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
]);

function readMessage(
  members: MemberReader,
  { path, problems }: { readonly path: string; readonly problems: Problems },
): readonly Message[] {
  const role = members.word('role', ROLES);
  if (role === undefined) problems.add(`${path}.role`, 'user, assistant or system');
  const content = members.take('content', (_value): _value is JsonValue => true);
  const blocks = readContent(content, { path: `${path}.content`, problems });
  const rest = members.rest(ANTHROPIC);
  return role === undefined ? [] : [{ role, blocks, ...definedFields({ rest }) }];
}

function readTools(members: MemberReader, problems: Problems): readonly Tool[] {
  const isTools = (value: JsonValue): value is readonly JsonValue[] =>
    isJsonList(value) && value.length > 0;
  return (members.take('tools', isTools) ?? []).flatMap((value, index) => {
    if (isJsonObject(value)) return [readTool(value)];
    problems.add(`tools[${index}]`, 'an object');
    return [];
  });
}

/** A tool without a type of its own, or of the type `custom`, is run by the client. */
function readTool(value: JsonObject): Tool {
  const members = new MemberReader(value);
  const type = value['type'] ?? 'custom';
  const name = members.string('name');
  const schema = members.object('input_schema');
  if (type !== 'custom' || name === undefined || schema === undefined) {
    return { kind: 'hosted', wire: ANTHROPIC, value };
  }
  const description = members.string('description');
  const isStrict = members.is('strict', true) ? true : undefined;
  const parts = commonParts(members);
  return { kind: 'function', name, schema, ...definedFields({ description, isStrict }), ...parts };
}

const CHOICES: ReadonlyMap<string, 'auto' | 'any' | 'none' | 'tool'> = new Map([
  ['auto', 'auto'],
  ['any', 'any'],
  ['none', 'none'],
  ['tool', 'tool'],
]);

function readChoice(
  members: MemberReader,
  problems: Problems,
): {
  readonly toolChoice?: ToolChoice;
  readonly hasParallelTools?: boolean;
} {
  const choice = members.inner('tool_choice');
  const kind = choice.word('type', CHOICES);
  if (kind === undefined) return {};
  const isSingle = choice.take(
    'disable_parallel_tool_use',
    (value): value is boolean => typeof value === 'boolean' && kind !== 'none',
  );
  const name = kind === 'tool' ? choice.string('name') : '';
  if (name === undefined) problems.add('tool_choice.name', 'a string');
  const toolChoice: ToolChoice = kind === 'tool' ? { kind, name: name ?? '' } : { kind };
  return {
    toolChoice,
    ...(isSingle === undefined ? {} : { hasParallelTools: !isSingle }),
  };
}

const MODES: ReadonlyMap<string, 'off' | 'adaptive' | 'budget'> = new Map([
  ['disabled', 'off'],
  ['adaptive', 'adaptive'],
  ['enabled', 'budget'],
]);

const EFFORTS: ReadonlyMap<string, Effort> = new Map([
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
]);

function readReasoning(members: MemberReader): Reasoning | undefined {
  const thinking = members.inner('thinking');
  const mode = thinking.word('type', MODES);
  const reasoning = definedFields({
    mode,
    budgetTokens: mode === 'budget' ? thinking.number('budget_tokens') : undefined,
    summary: mode === undefined || mode === 'off' ? undefined : thinking.string('display'),
    effort: members.inner('output_config').word('effort', EFFORTS),
  });
  return Object.keys(reasoning).length === 0 ? undefined : reasoning;
}

function readOutput(members: MemberReader): OutputFormat | undefined {
  const format = members.inner('output_config').inner('format');
  const schema = format.is('type', 'json_schema') ? format.object('schema') : undefined;
  return schema === undefined ? undefined : { kind: 'schema', schema };
}
