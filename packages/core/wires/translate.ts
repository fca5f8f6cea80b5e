// A turn of a client on one wire with a provider on another: the request goes over, and the answer comes back.
import { type Failure, isFailure, type JsonObject } from '@subluminal/contracts';
import { cannotCross, crossRequest, noteRest } from './cross-request.ts';
import { asCustomInput } from './shared/custom-tools.ts';
import { Degraded } from './shared/degraded.ts';
import type {
  AnswerEvent,
  Block,
  ModelRequest,
  ThinkingBlock,
  ToolUseBlock,
  UpstreamError,
} from './shared/form.ts';
import { objectIn } from './shared/read-members.ts';
import type { SseEvent } from './shared/sse.ts';
import type {
  AnswerOptions,
  AnswerReader,
  AnswerWriter,
  DegradedFeature,
  Wire,
  Written,
} from './shared/wire.ts';
import { ToolNames } from './tool-names.ts';

export interface TranslationOptions {
  /** The wire of the client. */
  readonly from: Wire;
  /** The wire of the provider. */
  readonly to: Wire;
  /** The request of the client. */
  readonly body: JsonObject;
  /** The model as the provider names it. */
  readonly model: string;
}

export interface Translation {
  /** The request for the provider. */
  readonly body: JsonObject;
  readonly degraded: readonly DegradedFeature[];
  /** The whole answer of the provider, for the client. */
  answer(body: JsonObject, options?: AnswerOptions): Written<JsonObject> | Failure;
  /** The stream of the provider, for the client. */
  stream(options?: AnswerOptions): StreamTranslation;
}

export interface StreamTranslation {
  /** What to send on. The last event of the client's wire is held back for `end`. */
  push(event: SseEvent): string;
  /** The provider's connection is at its end. Gives what ends the client's stream: its last event, or an error. */
  end(): string;
  /** Whether the answer came whole. */
  readonly isComplete: boolean;
  /** What the provider reported, or what is wrong with its stream. Nothing is sent on after it but by `end`. */
  readonly error: UpstreamError | undefined;
  readonly degraded: readonly DegradedFeature[];
}

export function translate({ from, to, body, model }: TranslationOptions): Translation | Failure {
  const request = from.readRequest(body);
  if (isFailure(request)) return request;
  const refused = cannotCross(request);
  if (refused !== undefined) return refused;
  const degraded = new Degraded();
  const names = new ToolNames(to.name);
  const crossed = crossRequest({ ...request, model }, { wire: to.name, names, degraded });
  const written = to.writeRequest(crossed);
  degraded.addAll(written.degraded);
  const shared = { from, to, names };
  const hasUsage = from.name !== 'openai_chat_completions' || wantsUsage(request);
  return {
    body: written.value,
    degraded: degraded.list,
    answer: (answer, options) => translateAnswer(shared, answer, options),
    stream: (options) => new TranslatedStream(shared, { hasUsage, ...options }),
  };
}

/** A chat client has to ask for the tokens of a stream; others may not expect a chunk without choices. */
function wantsUsage({ rest }: ModelRequest): boolean {
  return objectIn(rest?.members ?? {}, 'stream_options')?.['include_usage'] === true;
}

interface Sides {
  readonly from: Wire;
  readonly to: Wire;
  readonly names: ToolNames;
}

function translateAnswer(
  { from, to, names }: Sides,
  body: JsonObject,
  options: AnswerOptions | undefined,
): Written<JsonObject> | Failure {
  const answer = to.readAnswer(body);
  if (isFailure(answer)) return answer;
  const degraded = new Degraded();
  const { rest: _, ...plain } = answer;
  const blocks = answer.blocks.map((block) => crossBack(block, { names, degraded }));
  const written = from.writeAnswer({ ...plain, blocks }, options);
  degraded.addAll(written.degraded);
  return { value: written.value, degraded: degraded.list };
}

/** A block of an answer, with the tool as the client knows it. */
function crossBack(
  block: Block,
  { names, degraded }: { readonly names: ToolNames; readonly degraded: Degraded },
): Block {
  if (block.type === 'unknown') return block;
  noteRest(block.rest, degraded);
  const { rest: _, ...plain } = block;
  if (plain.type === 'thinking') return unsealed(plain, degraded);
  if (plain.type !== 'tool_use') return plain;
  const { use, isRaised } = renamed(plain, names);
  return isRaised ? { ...use, input: asCustomInput(plain.input) } : use;
}

/** The client may read the thoughts, but its wire has no place for the seal. */
function unsealed(block: ThinkingBlock, degraded: Degraded): ThinkingBlock {
  const { seal, ...open } = block;
  if (seal === undefined || block.text === '') return block;
  degraded.add('signed_thinking');
  return open;
}

function renamed(
  use: ToolUseBlock,
  names: ToolNames,
): { readonly use: ToolUseBlock; readonly isRaised: boolean } {
  const { name, namespace, isCustom } = names.original(use);
  const isRaised = isCustom === true && use.isCustom !== true;
  return {
    use: {
      ...use,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(isRaised ? { isCustom } : {}),
    },
    isRaised,
  };
}

class TranslatedStream implements StreamTranslation {
  readonly #reader: AnswerReader;
  readonly #writer: AnswerWriter;
  readonly #names: ToolNames;
  readonly #degraded = new Degraded();
  /** The arguments of a custom tool, which are taken out of their JSON when they are whole. */
  #customInput: string | undefined;
  #last = '';
  isComplete = false;
  error: UpstreamError | undefined;

  constructor({ from, to, names }: Sides, options: AnswerOptions) {
    this.#reader = to.answerReader();
    this.#writer = from.answerWriter(options);
    this.#names = names;
  }

  get degraded(): readonly DegradedFeature[] {
    const all = new Degraded();
    all.addAll(this.#degraded.list);
    all.addAll(this.#writer.degraded);
    return all.list;
  }

  push(event: SseEvent): string {
    return this.#write(this.#reader.push(event));
  }

  end(): string {
    const text = this.#write(this.#reader.end());
    const last = this.#last;
    this.#last = '';
    return text + last;
  }

  #write(events: readonly AnswerEvent[]): string {
    let text = '';
    for (const event of events) {
      if (this.isComplete || this.error !== undefined) break;
      if (event.type === 'end') {
        this.isComplete = true;
        this.#last = this.#writer.push(event);
      } else if (event.type === 'error') {
        this.error = event.error;
        this.#last = this.#writer.push(event);
      } else {
        text += this.#cross(event);
      }
    }
    return text;
  }

  #cross(event: AnswerEvent): string {
    if (event.type === 'block_start') return this.#startBlock(event.block);
    if (this.#customInput === undefined) return this.#writer.push(event);
    if (event.type === 'input') {
      this.#customInput += event.text;
      return '';
    }
    if (event.type !== 'block_end') return this.#writer.push(event);
    const input = asCustomInput(this.#customInput);
    this.#customInput = undefined;
    const written = input === '' ? '' : this.#writer.push({ type: 'input', text: input });
    return written + this.#writer.push(event);
  }

  #startBlock(block: Block): string {
    if (block.type !== 'tool_use') {
      const crossed = crossBack(block, { names: this.#names, degraded: this.#degraded });
      return this.#writer.push({ type: 'block_start', block: crossed });
    }
    noteRest(block.rest, this.#degraded);
    const { rest: _, ...plain } = block;
    const { use, isRaised } = renamed(plain, this.#names);
    if (isRaised) this.#customInput = use.input;
    const begun = isRaised ? { ...use, input: '' } : use;
    return this.#writer.push({ type: 'block_start', block: begun });
  }
}
