// Self-protection: no call may name what governs it, such as the policy, `SUB_HOME` or the ledger.
import type { JsonObject } from '@subluminal/contracts';
import { isObject } from '@subluminal/contracts';
import type { GatheredTexts, GuardedCall, Passage } from '../session/guard.ts';
import { visible } from '../text/visible.ts';
import { mayNamePath } from './may-name-path.ts';
import type { Memory } from './memory.ts';
import { type NamedPaths, namedInTexts, namedPaths } from './named-paths.ts';
import type { Stop } from './verdicts.ts';

const ADVICE =
  'This is not for an agent to read or change: tell the person what is needed, so that they do it themselves.';
const UNREAD = 'its arguments are too many or too long to be checked for files that sub protects';
const SPLIT = 'Make several smaller calls of it.';
const SHOWN_NAME_MAX = 120;
const NOT_READ: NamedPaths = { names: [], isWhole: false };

/** What self-protection has against a call that was read whole. */
export function selfStop({ options }: Memory, call: GuardedCall): Stop | undefined {
  return orElse(
    () => stopForArgs({ options }, call),
    () => stopOf(options, call, UNREAD),
  );
}

/** A fault must not open the gate: outside of production, the session lets a broken gate pass. */
function orElse<T>(look: () => T, onFault: () => T): T {
  try {
    return look();
  } catch {
    return onFault();
  }
}

function stopForArgs({ options }: Pick<Memory, 'options'>, call: GuardedCall): Stop | undefined {
  const { selfProtection } = options;
  // Of a call that is too large, the texts come at its end.
  if (selfProtection === undefined || call.envelope === undefined) return undefined;
  const { rest } = call.envelope;
  const { argsBytes } = call;
  // Most arguments are not parsed to see that nothing in them can be the name of a file.
  const isPlain =
    argsBytes !== undefined && !mayNamePath(argsBytes) && !selfProtection.hasBaseName(argsBytes);
  if (rest === undefined && isPlain) return undefined;
  const { args } = call;
  if (args === undefined) return stopOf(options, call, UNREAD);
  return stopFor({ options }, call, namedPaths(withoutMeta(args, rest), selfProtection));
}

/** What a client tells of itself stands in `_meta`, and no server opens it. */
function withoutMeta(args: JsonObject, rest: JsonObject | undefined): unknown {
  const params = rest?.['params'];
  if (!isObject(params)) return args;
  const { _meta: _toldOfItself, ...beside } = params;
  return [args, beside];
}

/** What self-protection has against a call of which only the texts are known. */
export function selfStopByTexts(
  { options }: Pick<Memory, 'options'>,
  call: GuardedCall,
  { texts, isWhole }: GatheredTexts,
): Stop | undefined {
  const { selfProtection } = options;
  if (selfProtection === undefined) return undefined;
  const named = orElse(
    () => namedInTexts(texts, selfProtection),
    () => NOT_READ,
  );
  return stopFor({ options }, call, { ...named, isWhole: named.isWhole && isWhole });
}

/** What is protected among these names, in words. What cannot be looked up is, in every profile. */
function protectedIn(
  { selfProtection }: Memory['options'],
  names: readonly string[],
): string | undefined {
  if (names.length === 0) return undefined;
  try {
    const found = selfProtection?.find(names);
    return found && `${found.what} (\`${visible(found.name, SHOWN_NAME_MAX)}\`)`;
  } catch {
    return 'a file that could not be looked up';
  }
}

function stopFor(
  { options }: Pick<Memory, 'options'>,
  call: GuardedCall,
  { names, isWhole }: NamedPaths,
): Stop | undefined {
  const found = protectedIn(options, names);
  if (found !== undefined) return stopOf(options, call, `its arguments name ${found}`);
  return isWhole ? undefined : stopOf(options, call, UNREAD);
}

function stopOf({ selfProtection }: Memory['options'], { tool }: GuardedCall, why: string): Stop {
  return {
    rule: 'gate:self-protection',
    enforced: selfProtection?.enforced === true,
    reason_code: 'SELF_PROTECTION',
    summary: `\`${visible(tool, 120)}\` is blocked: ${why}.`,
    advice: why === UNREAD ? SPLIT : ADVICE,
    severity: 'critical',
  };
}

/** A request or an answer of the agent that is no call, such as `resources/read`. */
export function selfPassage(
  { options }: Memory,
  method: string,
  value: unknown,
): Passage | undefined {
  const { selfProtection } = options;
  if (selfProtection?.enforced !== true || value === undefined) return undefined;
  const { names, isWhole } = orElse(
    () => namedPaths(value, selfProtection),
    () => NOT_READ,
  );
  const found = protectedIn(options, names);
  if (found === undefined && isWhole) return undefined;
  const why = found === undefined ? UNREAD : `it names ${found}`;
  return {
    kind: 'refused',
    reason_code: 'SELF_PROTECTION',
    summary: `\`${visible(method, 120)}\` is not sent: ${why}.`,
    hint: why === UNREAD ? SPLIT : ADVICE,
  };
}
