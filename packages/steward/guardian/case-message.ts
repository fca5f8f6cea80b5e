// One case as the guardian sees it. Everything that the agent or the world has written is inside of one JSON text on
// one line, which no text can end; the lines around it are ours.
import type { JsonObject, JsonValue, PermissionTier } from '@subluminal/contracts';
import { harmlessJson } from '@subluminal/core/visible';

export interface JudgedProposal {
  readonly server: string;
  readonly tool: string;
  readonly params: JsonObject;
  readonly reasoning: string;
}

export interface GuardianCase {
  readonly userMessage: string;
  readonly proposal: JudgedProposal;
  readonly policy: {
    readonly tier: PermissionTier;
    /** What the rules say of the action, in words. */
    readonly rules: string;
  };
}

export type CaseMessage =
  | { readonly kind: 'message'; readonly text: string }
  /** What does not fit is not judged: what is left out may be what matters. */
  | { readonly kind: 'too_large' };

const USER_LENGTH_MAX = 8_000;
const RULES_LENGTH_MAX = 2_000;
const REASONING_LENGTH_MAX = 2_000;
/** A longer text in the parameters is shown by its beginning and its end. */
const TEXT_LENGTH_MAX = 2_000;
const PARAMS_LENGTH_MAX = 16_000;
const DEPTH_MAX = 16;
const VALUES_MAX = 500;

export function caseMessage(one: GuardianCase, caseId: string): CaseMessage {
  const { userMessage, proposal, policy } = one;
  const { server, tool, params, reasoning } = proposal;
  const shown = shownValue(params, { depth: 0, values: { left: VALUES_MAX } });
  if (shown === undefined || quoted(shown).length > PARAMS_LENGTH_MAX) return { kind: 'too_large' };
  const data = {
    user_message: shortened(userMessage, USER_LENGTH_MAX),
    action: {
      tool: shortened(`${server}.${tool}`, TEXT_LENGTH_MAX),
      parameters: shown,
      reasoning: shortened(reasoning, REASONING_LENGTH_MAX),
    },
    policy: { tier: policy.tier, rules: shortened(policy.rules, RULES_LENGTH_MAX) },
  };
  const lines = [
    `Case ${caseId}. The next line is the data.`,
    quoted(data),
    `End of the data of case ${caseId}. Answer with {"case": "${caseId}", "verdict": …, "reason": …} and nothing else.`,
  ];
  return { kind: 'message', text: lines.join('\n') };
}

/** On one line, and without what looks like the tags that prompts are made of. */
function quoted(value: JsonValue): string {
  const json = harmlessJson(JSON.stringify(value));
  return json.replaceAll(/[<>&`]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

interface ValueRoom {
  readonly depth: number;
  readonly values: { left: number };
}

/** The value with its long texts shortened; undefined when it has too many parts. */
function shownValue(value: JsonValue, { depth, values }: ValueRoom): JsonValue | undefined {
  values.left -= 1;
  if (values.left < 0 || depth > DEPTH_MAX) return undefined;
  if (typeof value === 'string') return shortened(value, TEXT_LENGTH_MAX);
  if (typeof value !== 'object' || value === null) return value;
  const inside = { depth: depth + 1, values };
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value as readonly JsonValue[]) {
      const shown = shownValue(item, inside);
      if (shown === undefined) return undefined;
      items.push(shown);
    }
    return items;
  }
  const members: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value)) {
    const shown = member === undefined ? null : shownValue(member, inside);
    if (shown === undefined || name.length > TEXT_LENGTH_MAX) return undefined;
    members.push([name, shown]);
  }
  return Object.fromEntries(members);
}

/** An end that nobody sees would be a place to hide something: both ends are shown. */
function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const part = Math.floor(lengthMax / 2);
  const left = text.length - 2 * part;
  return `${text.slice(0, part)}[… ${left} characters are not shown …]${text.slice(-part)}`;
}
