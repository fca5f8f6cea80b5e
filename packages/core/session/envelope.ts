// What a message holds beside what the gates look at anyway: its id, its method, and members that
// stand around the arguments of a call or the params, the result or the error of anything else.
import { isObject, type JsonObject } from '@subluminal/contracts';
import { type MemberRange, membersAt } from '../json/member-ranges.ts';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { OPEN_BRACE } from '../json/units.ts';
import type { Context } from './context.ts';
import type { Envelope } from './guard.ts';
import { TOP_MEMBERS } from './peek/outline-fields.ts';
import { TOOLS_CALL } from './peek/peek.ts';
import { isLabelValue, REQUEST_LABELS } from './peek/request-labels.ts';
import type { MessageId, SeenParams } from './peek/types.ts';

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
const META = '_meta';

/** Read on first use: most messages have nothing of the kind, and most gates do not ask. */
export class LazyEnvelope implements Envelope {
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

  /**
   * What makes it another call though its arguments are the same, as it was written: all that stands
   * beside them, but for the labels of a request.
   */
  get bound(): string | undefined {
    const { extra, params } = this.enclosed;
    if (!extra && params?.bound !== true) return undefined;
    return `${this.text([...CALLED, META])} ${this.boundMeta()}`;
  }

  /** Whether it may hold the answers of a further round; most calls have but one. */
  get mayHoldInput(): boolean {
    return this.enclosed.params?.bound === true;
  }

  /** Whether a key stands twice in what is beside the arguments: nobody could say what it holds. */
  get isAmbiguous(): boolean {
    return this.rest !== undefined && hasDuplicateKeys(this.text(CALLED), this.rest);
  }

  private hasRest(): boolean {
    const { extra, params } = this.enclosed;
    return extra || params?.more === true;
  }

  /** `_meta` without what is a label. */
  private boundMeta(): string {
    const { bytes } = this.enclosed;
    const meta = this.params().find(({ key }) => key === META);
    if (meta === undefined) return '';
    if (bytes[meta.value.start] !== OPEN_BRACE) return this.memberText(meta);
    const isLabel = ({ key, value }: MemberRange) => {
      const label = REQUEST_LABELS.indexOf(key);
      return label !== -1 && isLabelValue(label, bytes, value);
    };
    const members = membersAt(bytes, meta.value.start).filter((member) => !isLabel(member));
    return members.map((member) => this.memberText(member)).join(',');
  }

  private params(): readonly MemberRange[] {
    const { bytes, method } = this.enclosed;
    if (method !== TOOLS_CALL) return [];
    const params = membersAt(bytes, 0).find(({ key }) => key === 'params');
    return params === undefined ? [] : membersAt(bytes, params.value.start);
  }

  private memberText({ start, value }: MemberRange): string {
    return this.context.decode(this.enclosed.bytes, start, value.end);
  }

  private text(leftOut: readonly string[]): string {
    const groups = [
      this.group('params', this.params(), (key) => leftOut.includes(key)),
      this.group('message', membersAt(this.enclosed.bytes, 0), (key) => TOP_MEMBERS.has(key)),
    ];
    return `{${groups.filter((group) => group !== '').join(',')}}`;
  }

  private group(name: string, members: readonly MemberRange[], isLeftOut: IsLeftOut): string {
    const texts = members
      .filter(({ key }) => !isLeftOut(key))
      .map((member) => this.memberText(member));
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
