// What a message holds beside what the gates look at anyway: its id, its method, and members that
// stand around the arguments of a call or the params, the result or the error of anything else.
import { isObject, type JsonObject } from '@subluminal/contracts';
import type { Context } from './context.ts';
import type { Envelope } from './guard.ts';
import { type Member, membersAt } from './peek/member.ts';
import { TOP_MEMBERS } from './peek/outline-fields.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import type { MessageId, SeenParams } from './peek/types.ts';
import { hasTwins } from './twins.ts';

interface Enclosed {
  readonly bytes: Uint8Array;
  readonly method: string;
  /** Of an answer, the method is that of its request: it does not stand there. */
  readonly isAnswer?: boolean;
  readonly id: MessageId | undefined;
  /** It has members that no revision of the protocol knows. */
  readonly extra: boolean;
  readonly params?: SeenParams | undefined;
}

type IsLeftOut = (key: string) => boolean;

const CALLED: readonly string[] = ['name', 'arguments'];
/** What differs from call to call without making it another one. */
const UNBOUND: readonly string[] = [...CALLED, '_meta', 'task'];

/** Read on first use: most messages have nothing of the kind, and most gates do not ask. */
class LazyEnvelope implements Envelope {
  readonly written: string;
  readonly method: string;
  private readonly context: Pick<Context, 'decode'>;
  private readonly enclosed: Enclosed;
  private read: { readonly rest: JsonObject | undefined } | undefined;

  constructor(context: Pick<Context, 'decode'>, enclosed: Enclosed) {
    const { id, method, isAnswer = false } = enclosed;
    this.context = context;
    this.enclosed = enclosed;
    this.method = method;
    this.written = isAnswer ? (id?.json ?? '') : `${id?.json ?? ''} ${method}`;
  }

  get rest(): JsonObject | undefined {
    this.read ??= { rest: this.hasRest() ? objectOf(this.text(CALLED)) : undefined };
    return this.read.rest;
  }

  get restText(): string | undefined {
    return this.hasRest() ? this.text(CALLED) : undefined;
  }

  /** What makes it another call though its arguments are the same, as it was written. */
  get bound(): string | undefined {
    const { extra, params } = this.enclosed;
    return extra || params?.bound === true ? this.text(UNBOUND) : undefined;
  }

  /** Whether it may hold the answers of a further round; most calls have but one. */
  get mayHoldInput(): boolean {
    return this.enclosed.params?.bound === true;
  }

  /** Whether a key stands twice in what is beside the arguments: nobody could say what it holds. */
  get isAmbiguous(): boolean {
    return this.rest !== undefined && hasTwins(this.text(CALLED), this.rest);
  }

  private hasRest(): boolean {
    const { extra, params } = this.enclosed;
    return extra || params?.more === true;
  }

  private text(leftOut: readonly string[]): string {
    const { bytes, method } = this.enclosed;
    const top = membersAt(bytes, 0);
    const params = method === TOOLS_CALL ? top.find(({ key }) => key === 'params') : undefined;
    const inside = params === undefined ? [] : membersAt(bytes, params.value.start);
    const groups = [
      this.group('params', inside, (key) => leftOut.includes(key)),
      this.group('message', top, (key) => TOP_MEMBERS.has(key)),
    ];
    return `{${groups.filter((group) => group !== '').join(',')}}`;
  }

  private group(name: string, members: readonly Member[], isLeftOut: IsLeftOut): string {
    const { bytes } = this.enclosed;
    const texts = members
      .filter(({ key }) => !isLeftOut(key))
      .map(({ start, value }) => this.context.decode(bytes, start, value.end));
    return texts.length === 0 ? '' : `"${name}":{${texts.join(',')}}`;
  }
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isJson(value)) return value;
  throw new Error('the members of a message make no object');
}

/** Every member of what JSON held is JSON again. */
function isJson(value: unknown): value is JsonObject {
  return isObject(value);
}

export { LazyEnvelope };
