// Requests as a coding agent sends them: a system prompt, tools, and a conversation that grows. Most of each request
// is the one before it; what is new was never there.

export const KINDS = ['stream', 'whole'] as const;
export type Kind = (typeof KINDS)[number];

/** Bodies of 72 to 100 KB, 86 on the average. */
const SYSTEM_SENTENCES = 150;
const TOOLS = 24;
const TOOL_SENTENCES = 8;
const FIRST_ROUNDS = 14;
const ROUNDS_MAX = 30;
const RESULT_LINES = 26;

const WORDS =
  'account answer array branch buffer cache call check client commit config count create cursor data default delete deploy entry error event field file filter folder format handle header import index input insert issue join key label layer length limit line list load lock log map match merge message method model module name node number object offset order output page parent parse path place plan pool port print queue query range read record refuse region remove request result retry return route row rule run save schema scope search send server session set shape share sort source split stage start state step store stream string table task test text thread time token total trace tree turn type unit update user value version view wait watch window word work write'.split(
    ' ',
  );

export class Conversation {
  readonly #head: string;
  readonly #session: number;
  #messages: string[] = [];
  #seed: number;

  constructor(kind: Kind, session: number) {
    this.#session = session;
    this.#seed = session + 1;
    this.#head = head(kind);
  }

  /** The next request: a round more than the last, or one that goes back to an earlier round, as people do. */
  next(): Buffer {
    if (this.#messages.length >= ROUNDS_MAX) this.#messages = this.#messages.slice(0, FIRST_ROUNDS);
    do this.#messages.push(this.#round());
    while (this.#messages.length < FIRST_ROUNDS);
    return Buffer.from(`${this.#head}${this.#messages.join(',')}]}`);
  }

  #round(): string {
    const id = `toolu_${this.#session}_${this.#seed}`;
    const path = `src/${this.#word()}/${this.#word()}-${this.#seed % 997}.ts`;
    const lines = Array.from({ length: RESULT_LINES }, (_, line) => this.#line(line + 1));
    return [
      { role: 'user', content: [{ type: 'text', text: `Edit ${path}: ${this.#line(0)}` }] },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'tool_3', input: { path } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: lines.join('\n') }],
      },
    ]
      .map((message) => JSON.stringify(message))
      .join(',');
  }

  #line(at: number): string {
    const [a, b, c, d] = [this.#word(), this.#word(), this.#word(), this.#word()];
    return `${String(at).padStart(4)}→  const ${a}_${b} = ${c}.${d}(${this.#seed % 1_000});`;
  }

  #word(): string {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[(this.#seed >>> 8) % WORDS.length] ?? 'word';
  }
}

function head(kind: Kind): string {
  const sentence =
    'Read "src/main.ts" before you change it,\n and keep the words of the codebase. ';
  const tools = Array.from({ length: TOOLS }, (_, index) => ({
    name: `tool_${index}`,
    description: sentence.repeat(TOOL_SENTENCES),
    input_schema: { type: 'object', properties: { path: { type: 'string', description: 'Path' } } },
  }));
  const text = JSON.stringify({
    model: 'claude-of-the-client',
    max_tokens: 32_000,
    stream: kind === 'stream',
    system: [
      {
        type: 'text',
        text: sentence.repeat(SYSTEM_SENTENCES),
        cache_control: { type: 'ephemeral' },
      },
    ],
    tools,
    messages: [],
  });
  return text.slice(0, -2);
}
