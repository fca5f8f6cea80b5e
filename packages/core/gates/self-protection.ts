// Self-protection: no call may name what governs it, such as the policy, `SUB_HOME` or the ledger.
import { isObject } from '@subluminal/contracts';
import type { GuardedCall, Passage } from '../session/guard.ts';
import type { GatheredTexts } from '../session/peek/gather-texts.ts';
import { visible } from '../text/visible.ts';
import type { GuardOptions, SelfProtection } from './guard-options.ts';
import { mayNamePath } from './may-name-path.ts';
import { type NamedPaths, namedInTexts, namedPaths } from './named-paths.ts';
import { quotedName, refusedPassage, type Stop } from './verdicts.ts';

const ADVICE =
  'This is not for an agent to read or change: tell the person what is needed, so that they do it themselves.';
const UNREAD = 'its arguments are too many or too long to be checked for files that sub protects';
const SPLIT = 'Make several smaller calls of it.';
const SHOWN_NAME_MAX = 120;

/** What self-protection has against a call that was read whole. */
export function selfStop({ selfProtection }: GuardOptions, call: GuardedCall): Stop | undefined {
  // The texts of a call that is too large come at its end.
  if (selfProtection === undefined || call.envelope === undefined) return undefined;
  return stopFor(selfProtection, call, () => namesInCall(selfProtection, call));
}

/** What self-protection has against a call of which only the texts are known. */
export function selfStopByTexts(
  { selfProtection }: GuardOptions,
  call: GuardedCall,
  { texts, isWhole }: GatheredTexts,
): Stop | undefined {
  if (selfProtection === undefined) return undefined;
  return stopFor(selfProtection, call, () => {
    const named = namedInTexts(texts, selfProtection);
    return { ...named, isWhole: named.isWhole && isWhole };
  });
}

function namesInCall(selfProtection: SelfProtection, call: GuardedCall): NamedPaths {
  const { argsBytes } = call;
  const params = call.envelope?.rest?.['params'];
  // Most arguments need not be parsed to see that nothing in them can be the name of a file.
  const isPlain =
    argsBytes !== undefined && !mayNamePath(argsBytes) && !selfProtection.hasBaseName(argsBytes);
  if (call.envelope?.rest === undefined && isPlain) return { names: [], isWhole: true };
  const { args } = call;
  if (args === undefined) return { names: [], isWhole: false };
  if (!isObject(params)) return namedPaths(args, selfProtection);
  // What a client tells about itself stands in `_meta`, and no server opens it.
  const { _meta: _aboutClient, ...beside } = params;
  return namedPaths([args, beside], selfProtection);
}

/** Why what was named must not pass. Names that cannot be read or looked up count as protected. */
function protectedReason(
  selfProtection: SelfProtection,
  subject: string,
  look: () => NamedPaths,
): string | undefined {
  let named: NamedPaths = { names: [], isWhole: false };
  try {
    named = look();
  } catch {
    // A fault must not open the gate: outside of production, the session lets a broken gate pass.
  }
  const { names, isWhole } = named;
  try {
    const found = names.length === 0 ? undefined : selfProtection.find(names);
    if (found === undefined) return isWhole ? undefined : UNREAD;
    return `${subject} ${found.what} (\`${visible(found.name, SHOWN_NAME_MAX)}\`)`;
  } catch {
    return `${subject} a file that could not be looked up`;
  }
}

function stopFor(
  selfProtection: SelfProtection,
  { tool }: GuardedCall,
  look: () => NamedPaths,
): Stop | undefined {
  const why = protectedReason(selfProtection, 'its arguments name', look);
  if (why === undefined) return undefined;
  return {
    rule: 'gate:self-protection',
    enforced: selfProtection.enforced,
    reason_code: 'SELF_PROTECTION',
    summary: `${quotedName(tool)} is blocked: ${why}.`,
    advice: why === UNREAD ? SPLIT : ADVICE,
    severity: 'critical',
  };
}

/** A request or an answer of the agent that is no call, such as `resources/read`. */
export function selfPassage(
  { selfProtection }: GuardOptions,
  method: string,
  value: unknown,
): Passage | undefined {
  if (selfProtection?.enforced !== true || value === undefined) return undefined;
  const why = protectedReason(selfProtection, 'it names', () => namedPaths(value, selfProtection));
  if (why === undefined) return undefined;
  return refusedPassage({
    reason_code: 'SELF_PROTECTION',
    summary: `${quotedName(method)} is not sent: ${why}.`,
    hint: why === UNREAD ? SPLIT : ADVICE,
  });
}
