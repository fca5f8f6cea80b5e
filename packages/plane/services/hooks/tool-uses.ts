// Tool uses from their first hook to their last: asked about, waited for, run, shown or given up.
import { resolve } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import type { HookAnswer, HookEvent, ToolUse } from '@subluminal/core/hooks';
import { readsFolders } from '@subluminal/core/shell';
import { sha256 } from '../../os/crypto/index.ts';
import { parseJson } from '../../os/index.ts';
import { type ClientSession, type EndedUse, isSameUse, type OpenUse } from './client-session.ts';
import type { HookSession, ShownOutput, ToolOutput, ToolVerdict } from './hook-session.ts';
import { resultOf, withheld } from './tool-output.ts';
import { untoldArgs } from './transcript.ts';

export interface ToolUsesOptions {
  /** The governed session for the tools of an MCP server, or of the client itself; a text says why there is none. */
  readonly governed: (
    session: ClientSession,
    server: string | undefined,
    cwd: string,
  ) => Promise<HookSession | string>;
  /** Whether a shim of this run decides about it and records it. */
  readonly hasShim: (session: ClientSession, use: ToolUse) => boolean;
  /** Whether the client itself asks its user about uses that need an approval. */
  readonly asksClient: (session: ClientSession) => boolean;
  /** Whether a tool runs with the arguments that a hint suggests, in place of a refusal. */
  readonly appliesSuggestions: boolean;
  /** Puts on record that something was decided by less than it should be. */
  readonly note: (text: string) => void;
}

type AfterTool = Extract<HookEvent, { kind: 'after_tool' }>;

/** Beyond it, the oldest is given up. */
const USES_MAX = 256;
const PASS: HookAnswer = { do: 'pass' };
const UNREPLACED =
  'The output of a tool holds what must not be shown to a model, and this client cannot replace it.';
const DECLINED = 'The client was told to ask its user, and has not run it.';
const UNDECIDED = refused('Subluminal has not decided about it.');
const UNWRITTEN = 'Its arguments hold what may not be sent, and cannot be replaced here.';
const CORRECTED = 'The arguments were corrected as the policy of this run suggests it.';
const CHANGED = 'Parts of this output were replaced, as the policy of this run wants it.';

type RefusedVerdict = Extract<ToolVerdict, { kind: 'refused' }>;

export class ToolUses {
  readonly #options: ToolUsesOptions;

  constructor(options: ToolUsesOptions) {
    this.#options = options;
  }

  async before(session: ClientSession, use: ToolUse, signal: AbortSignal): Promise<HookAnswer> {
    session.tell(use);
    if (this.#options.hasShim(session, use)) return PASS;
    const over = session.ended(use);
    if (over?.kind === 'refused') return refused(over.reason);
    const known = use.useId === undefined ? undefined : session.find(use);
    if (known !== undefined && !isSameUse(known, use)) {
      return refused('Its id belongs to another call that has not ended.');
    }
    const open = known ?? (await this.#open(session, use, true));
    return typeof open === 'string' ? refused(open) : this.#verdict(session, open, signal);
  }

  /** Waits for the verdict; when nobody does any more, the call is given up. */
  async #verdict(session: ClientSession, open: OpenUse, signal: AbortSignal): Promise<HookAnswer> {
    if (!(open.answer instanceof Promise)) return open.answer;
    open.waiting += 1;
    const leave = (): void => {
      open.waiting -= 1;
      if (open.waiting > 0 || open.runsSinceMs !== undefined) return;
      giveUp(session, open);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    const answer = await open.answer;
    signal.removeEventListener('abort', leave);
    return answer;
  }

  /** Puts a use before the governor; a text says why it cannot be. */
  async #open(session: ClientSession, use: ToolUse, isBefore = false): Promise<OpenUse | string> {
    const args = parseJson(use.argsText);
    if (args === undefined) return 'Its arguments are no JSON.';
    if (session.uses.size >= USES_MAX) giveUpOldest(session);
    const { dialect, transcript } = session;
    const told = untoldArgs(dialect, transcript?.path, use);
    const { workdir } = told;
    const cwd = typeof workdir === 'string' ? resolve(session.cwd, workdir) : session.cwd;
    const untold = { ...told, ...folderOf({ client: dialect.client, use, args, cwd }, workdir) };
    const governed = await this.#options.governed(session, use.server, cwd);
    if (typeof governed === 'string') return governed;
    // Another hook may have told of the same use while the session was opened.
    const known = use.useId === undefined ? undefined : session.find(use);
    if (known !== undefined) return isSameUse(known, use) ? known : 'Its id is in use.';
    const over = session.ended(use);
    if (over?.kind === 'refused') return over.reason;
    const argsText = withMembers(use.argsText, args, untold);
    const mayAsk = isBefore && this.#options.asksClient(session);
    const { id, verdict } = governed.before({ ...use, argsText, mayAsk });
    const open: OpenUse = {
      key: session.keyFor(use),
      use,
      session: governed,
      id,
      answer: UNDECIDED,
      waiting: 0,
      runsSinceMs: undefined,
      isAsked: false,
      argsText: use.argsText,
    };
    session.uses.set(open.key, open);
    const answerTo = (said: ToolVerdict): HookAnswer | Promise<HookAnswer> =>
      isBefore && this.#options.appliesSuggestions && said.kind === 'refused'
        ? this.#corrected(session, open, { said, untold })
        : decided(session, open, { said, untold });
    open.answer = verdict instanceof Promise ? verdict.then(answerTo) : answerTo(verdict);
    return open;
  }

  /** A refused use may run with the arguments that the hint suggests, if the policy lets those pass. */
  async #corrected(
    session: ClientSession,
    open: OpenUse,
    { said, untold }: { readonly said: RefusedVerdict; readonly untold: JsonObject },
  ): Promise<HookAnswer> {
    const { use } = open;
    const refusal = { said, untold };
    const argsText = said.suggestedArgs && JSON.stringify(said.suggestedArgs);
    const written = argsText && withoutMembers(argsText, use.argsText, untold);
    if (!argsText || !written || !session.dialect.canRewrite(use, written)) {
      return decided(session, open, refusal);
    }
    const { id, verdict } = open.session.before({ ...use, argsText });
    open.id = id;
    const again = await verdict;
    if (again.kind !== 'passes') return decided(session, open, refusal);
    const passes = { ...again, argsText: again.argsText ?? argsText };
    const answer = decided(session, open, { said: passes, untold });
    return answer.do === 'rewrite' ? { ...answer, note: `${CORRECTED}\n${said.reason}` } : answer;
  }

  /** What the model may see of an output. */
  async after(session: ClientSession, event: AfterTool, signal: AbortSignal): Promise<HookAnswer> {
    const { use, output, isError } = event;
    session.tell(use);
    session.isSure(use);
    if (this.#options.hasShim(session, use)) return PASS;
    const over = session.ended(use);
    const result = resultOf(output, isError);
    const outputHash = sha256(result);
    if (over?.kind === 'answered' && over.outputHash === outputHash) return over.answer;
    const open = over?.kind === 'refused' ? over.reason : await this.#ran(session, use, signal);
    if (over?.kind === 'refused') this.#options.note(`${nameOf(use)} ran although it was refused`);
    if (typeof open === 'string')
      return this.#shown(session, event, { kind: 'withheld', reason: open });
    // Another hook may have told of the same output, and wait for the answer.
    if (open.shown?.outputHash === outputHash) return open.shown.answer;
    const answer = shownTo(signal, open, { output, result }).then((shown) => {
      const said = this.#shown(session, event, shown);
      session.end(open, { kind: 'answered', answer: said, outputHash });
      return said;
    });
    open.shown = { outputHash, answer };
    return answer;
  }

  /** The use that has run. One that nobody has asked about, or not with these arguments, is decided now. */
  async #ran(session: ClientSession, use: ToolUse, signal: AbortSignal): Promise<OpenUse | string> {
    const open = session.find(use);
    if (open?.runsSinceMs !== undefined && isSameUse(open, use)) {
      return open.isAsked ? this.#approved(session, open) : open;
    }
    const how =
      open === undefined
        ? withoutDecision(session.ended(use))
        : open.runsSinceMs === undefined
          ? 'before it was decided'
          : 'with other arguments than were decided';
    this.#options.note(`${nameOf(use)} ran ${how}`);
    if (open !== undefined) giveUp(session, open);
    const late = await this.#open(session, use);
    if (typeof late === 'string') return late;
    const answer = await this.#verdict(session, late, signal);
    return answer.do === 'refuse' ? answer.reason : late;
  }

  /** A use that the client has asked about, and that has run; the policy may refuse it by now. */
  async #approved(session: ClientSession, open: OpenUse): Promise<OpenUse | string> {
    const { use, id } = open;
    const said = await open.session.approved(id);
    if (said.kind === 'passes') {
      if (said.argsText !== undefined)
        this.#options.note(`${nameOf(use)} ran with arguments that were to be changed`);
      return open;
    }
    this.#options.note(`${nameOf(use)} ran although it was refused`);
    session.end(open, { kind: 'refused', reason: said.reason });
    return said.reason;
  }

  /** The user says something else: what was asked before has not been approved. */
  prompted(session: ClientSession): void {
    for (const open of [...session.uses.values()].filter(({ isAsked }) => isAsked)) {
      session.endUnsure(open, { kind: 'refused', reason: DECLINED });
      open.session.cancel(open.id);
    }
  }

  #shown(
    session: ClientSession,
    { use, output, isReplaceable }: AfterTool,
    shown: ShownOutput,
  ): HookAnswer {
    if (shown.kind === 'same') return PASS;
    if (!isReplaceable) {
      this.#options.note(
        `an output of ${nameOf(use)} that must not be shown could not be replaced`,
      );
      session.holdBack(use, shown.kind === 'withheld' ? shown.reason : UNREPLACED);
    }
    if (shown.kind === 'changed') return { do: 'replace', output: shown.output, note: CHANGED };
    const { reason } = shown;
    return { do: 'replace', output: withheld(output, reason), note: reason };
  }

  /** All uses of a turn are over; what could not be replaced ends the turn before the model sees it. */
  beforeModel(session: ClientSession, uses: readonly ToolUse[]): HookAnswer {
    const reasons = uses.flatMap((use) => {
      const open = session.find(use);
      // The user has denied it, or its hook was not called.
      if (open?.runsSinceMs !== undefined) {
        giveUp(session, open);
        session.remember(
          use,
          open.isAsked ? { kind: 'refused', reason: DECLINED } : { kind: 'left_out' },
        );
      }
      session.isSure(use);
      return session.takeHeldBack(use) ?? [];
    });
    const [reason] = reasons;
    return reason === undefined ? PASS : refused(reason);
  }

  /** What the client reads for a prompt is decided as the tool that would read it; its output is not seen. */
  async reads(
    session: ClientSession,
    reads: readonly ToolUse[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const opened: OpenUse[] = [];
    for (const use of reads) {
      const open = await this.#open(session, use);
      const answer =
        typeof open === 'string' ? refused(open) : await this.#verdict(session, open, signal);
      if (typeof open !== 'string' && answer.do === 'pass') {
        opened.push(open);
        continue;
      }
      for (const other of opened) {
        giveUp(session, other);
      }
      return answer.do === 'refuse' ? answer.reason : `${nameOf(use)} cannot be changed here.`;
    }
    for (const open of opened) {
      session.end(open);
      await open.session.after(open.id, { output: '', result: resultOf('', false) });
    }
    return undefined;
  }
}

/** What becomes of a use that was decided. */
function decided(
  session: ClientSession,
  open: OpenUse,
  { said, untold }: { readonly said: ToolVerdict; readonly untold: JsonObject },
): HookAnswer {
  const { use } = open;
  if (said.kind === 'refused') {
    session.end(open, { kind: 'refused', reason: said.reason });
    return refused(said.reason);
  }
  open.runsSinceMs = performance.now();
  if (said.kind === 'asks') {
    open.isAsked = true;
    return { do: 'ask', reason: said.reason };
  }
  if (said.argsText === undefined) return PASS;
  // The client would not know what to do with arguments that it has not told.
  const written = withoutMembers(said.argsText, use.argsText, untold);
  if (written === undefined || !session.dialect.canRewrite(use, written)) {
    giveUp(session, open);
    session.remember(use, { kind: 'refused', reason: UNWRITTEN });
    return refused(UNWRITTEN);
  }
  open.argsText = written;
  return { do: 'rewrite', argsText: written };
}

/** What of an output goes on; when nobody waits for it any more, the call is given up. */
async function shownTo(
  signal: AbortSignal,
  open: OpenUse,
  output: ToolOutput,
): Promise<ShownOutput> {
  const shown = open.session.after(open.id, output);
  if (!(shown instanceof Promise)) return shown;
  const leave = (): void => open.session.cancel(open.id);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await shown;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

export function refused(reason: string): Extract<HookAnswer, { do: 'refuse' }> {
  return { do: 'refuse', reason };
}

function withoutDecision(over: EndedUse | undefined): string {
  if (over === undefined) return 'without a decision: no hook has told of it before';
  const how =
    over.kind === 'answered' ? 'and has a second output' : 'on when its turn was said to be over';
  return `${how}: somebody else may have sent a hook`;
}

/** A client tells nothing of a tool that the user has denied. */
function giveUpOldest(session: ClientSession): void {
  const [oldest] = session.uses.values();
  if (oldest !== undefined) giveUp(session, oldest);
}

function giveUp(session: ClientSession, open: OpenUse): void {
  session.end(open);
  open.session.cancel(open.id);
}

interface PlacedUse {
  readonly client: string;
  readonly use: ToolUse;
  readonly args: unknown;
  readonly cwd: string;
}

/** Rules start from the folder of the project: a command or a search that runs elsewhere says where. */
function folderOf(
  { client, use, args, cwd }: PlacedUse,
  workdir: JsonValue | undefined,
): JsonObject {
  if (workdir !== undefined) return { workdir: cwd };
  if (!isObject(args) || use.server !== undefined || cwd === '') return {};
  const isCommand = Object.hasOwn(args, 'command') && use.tool !== 'apply_patch';
  const isSearch = readsFolders({ server_name: client, tool_name: use.tool });
  if (!isCommand && !isSearch) return {};
  const isElsewhere = resolve(cwd) !== process.cwd();
  return isElsewhere || Object.hasOwn(args, 'cwd') ? { cwd: resolve(cwd) } : {};
}

/** Rewritten arguments as the client knows them; nothing where what it does not know was rewritten too. */
function withoutMembers(text: string, given: string, added: JsonObject): string | undefined {
  const before = parseJson(given);
  const args = parseJson(text);
  if (!isObject(before) || !isObject(args)) return undefined;
  const names = Object.keys(added).filter((name) => !Object.hasOwn(before, name));
  if (names.length === 0) return text;
  if (names.some((name) => args[name] !== added[name])) return undefined;
  const kept = Object.entries(args).filter(([name]) => !names.includes(name));
  return JSON.stringify(Object.fromEntries(kept));
}

/**
 * The arguments with more members behind them; the others stay as they were written. A member that the model has put
 * there itself says nothing.
 */
function withMembers(argsText: string, args: unknown, more: JsonObject): string {
  const added = Object.keys(more);
  if (!isObject(args) || added.length === 0) return argsText;
  if (added.some((name) => Object.hasOwn(args, name))) return JSON.stringify({ ...args, ...more });
  const open = argsText.slice(0, argsText.lastIndexOf('}'));
  const isEmpty = Object.keys(args).length === 0;
  return `${open}${isEmpty ? '' : ','}${JSON.stringify(more).slice(1)}`;
}

function nameOf({ server, tool }: ToolUse): string {
  return server === undefined ? tool : `${server}/${tool}`;
}
