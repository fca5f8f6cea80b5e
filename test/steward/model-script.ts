// What a scripted model says: a function of the conversation, or a list of turns.

export interface ScriptedUse {
  /** As permissions name it (`email.send`) or as it was offered. */
  readonly name: string;
  readonly args?: { readonly [name: string]: unknown };
}

export type ModelFault =
  | { readonly kind: 'status'; readonly status: number; readonly message?: string }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Breaks off in the middle of its answer. */
  | { readonly kind: 'cut' }
  /** Answers with what is no JSON. */
  | { readonly kind: 'garbage' };

export interface Reply {
  readonly text?: string;
  readonly uses?: readonly ScriptedUse[];
  readonly fault?: ModelFault;
  /** The `message` of the answer, as it is: for answers that are malformed. */
  readonly message?: unknown;
  readonly finishReason?: string;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

export type ScriptFunction = (conversation: Conversation) => Reply | Promise<Reply>;

/**
 * Of a list, the turn after those that the conversation holds is said: a request that is sent twice is answered
 * twice alike, also after a restart.
 */
export type Script = ScriptFunction | readonly Reply[];

export interface Conversation {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ScriptedMessage[];
  /** The names of the tools that are offered. */
  readonly tools: readonly string[];
  /** What the tools that are offered say of themselves. */
  readonly definitions: string;
  /** All that the model sees. */
  readonly text: string;
  /** What the user said last. */
  readonly asked: string;
  /** What tools answered since then. */
  readonly results: readonly string[];
}

export interface ScriptedMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly uses: readonly (ScriptedUse & { readonly id: string })[];
  /** For `tool`: the use that it answers. */
  readonly useId: string;
}

/** Reads the body of a request of chat completions. */
export function conversationOf(body: unknown): Conversation {
  const given = membersOf(body);
  const all = listOf(given['messages']).map(membersOf);
  const systems = all.filter(({ role }) => role === 'system' || role === 'developer');
  const messages = all.filter((one) => !systems.includes(one)).map(messageOf);
  const tools = listOf(given['tools']).map((tool) => membersOf(membersOf(tool)['function']));
  return withMessages(
    {
      model: textOf(given['model']),
      system: systems.map(({ content }) => textOf(content)).join('\n\n'),
      tools: tools.map(({ name }) => textOf(name)),
      definitions: tools.map((tool) => JSON.stringify(tool)).join('\n'),
    },
    messages,
  );
}

function withMessages(
  head: Pick<Conversation, 'model' | 'system' | 'tools' | 'definitions'>,
  messages: readonly ScriptedMessage[],
): Conversation {
  const lastAsked = messages.findLastIndex(({ role }) => role === 'user');
  return {
    ...head,
    messages,
    text: [head.system, head.definitions, ...messages.map(({ text }) => text)].join('\n'),
    asked: messages[lastAsked]?.text ?? '',
    results: messages
      .slice(lastAsked + 1)
      .flatMap(({ role, text }) => (role === 'tool' ? [text] : [])),
  };
}

function messageOf({ role, content, tool_calls, tool_call_id }: Members): ScriptedMessage {
  return {
    role: role === 'assistant' || role === 'tool' ? role : 'user',
    text: textOf(content),
    uses: listOf(tool_calls).map(useOf),
    useId: textOf(tool_call_id),
  };
}

function useOf(given: unknown): ScriptedMessage['uses'][number] {
  const { id, function: called } = membersOf(given);
  const { name, arguments: args } = membersOf(called);
  return { id: textOf(id), name: textOf(name), args: membersOf(parsed(textOf(args))) };
}

/** What the script says next. Where a list is at its end, the server fails, so that a test sees it. */
export async function replyOf(script: Script, conversation: Conversation): Promise<Reply> {
  if (typeof script === 'function') return script(conversation);
  const said = conversation.messages.filter(({ role }) => role === 'assistant').length;
  const message = `The script has ${script.length} turns, and turn ${said + 1} is asked for.`;
  return script[said] ?? { fault: { kind: 'status', status: 400, message } };
}

export interface Injection {
  readonly needle: string;
  readonly uses: readonly ScriptedUse[];
}

/**
 * A model that obeys every injection that it can see, once each, before it goes on with its task. The task does not
 * see what was obeyed, so that it goes on as if nothing had happened.
 */
export async function obedient(
  conversation: Conversation,
  table: readonly Injection[],
  task: Script,
): Promise<Reply> {
  const { messages, text } = conversation;
  const done = new Set(messages.flatMap(({ uses }) => uses.map(keyOf)));
  const wanted = table
    .filter(({ needle }) => text.includes(needle))
    .flatMap(({ uses }) => uses)
    .filter((use) => !done.has(keyOf(use)));
  if (wanted.length > 0) return { text: 'I do what I was told to.', uses: wanted };
  const injected = new Set(table.flatMap(({ uses }) => uses.map(keyOf)));
  const obeyed = messages.filter(
    ({ uses }) => uses.length > 0 && uses.every((use) => injected.has(keyOf(use))),
  );
  const ids = new Set(obeyed.flatMap(({ uses }) => uses.map(({ id }) => id)));
  const left = messages.filter((one) => !obeyed.includes(one) && !ids.has(one.useId));
  return replyOf(task, withMessages(conversation, left));
}

/** Names are compared without what stands between their parts: wires allow few characters there. */
export function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]+/g, '_');
}

function keyOf({ name, args = {} }: ScriptedUse): string {
  return `${plainName(name)} ${JSON.stringify(args, (_, value: unknown) => sorted(value))}`;
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

interface Members {
  readonly [name: string]: unknown;
}

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a string, or of the parts of a content. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .map((part) => textOf(membersOf(part)['text']))
    .join('\n');
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A guardian that finds nothing wrong; undefined where somebody else is asked. */
export function kindGuardian({ system, asked }: Conversation): Reply | undefined {
  if (!system.includes('You are the guardian')) return undefined;
  const id = /Answer with \{"case": "([^"]+)"/.exec(asked)?.[1];
  return { text: JSON.stringify({ case: id, verdict: 'ALLOW', reason: 'It was asked for.' }) };
}
