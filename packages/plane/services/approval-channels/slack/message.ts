// A request as a message in Slack. All of it is hostile text, so it goes into plain text and
// preformatted blocks, which have no markup, no links and no mentions.
import type { KnownBlock } from '@slack/web-api';
import type { Approval } from '@subluminal/contracts';
import { harmless, visible } from '@subluminal/core/visible';
import type { Ended, Entry } from '../../../stores/approvals/queue.ts';

interface SlackMessage {
  /** For notifications; it is read as markup, so it is escaped. */
  readonly text: string;
  readonly blocks: KnownBlock[];
  /** The whole call is in it, so that it may be approved from it. */
  readonly isWhole: boolean;
}

export const ACTIONS = { approve: 'subluminal_approve', reject: 'subluminal_reject' } as const;
const PART_LENGTH = 2_800;
const PARTS_MAX = 4;
const FIELD_LENGTH_MAX = 300;
/** A section takes 3,000 characters; the strictest come first. */
const JUDGEMENTS_SHOWN = 2;

export function requestMessage({ request, sha256 }: Entry): SlackMessage {
  const { parts, isWhole } = argumentParts(request);
  const value = `${request.id}:${sha256}`;
  const approve = button('Approve', ACTIONS.approve, { value, style: 'primary' });
  const reject = button('Reject', ACTIONS.reject, { value, style: 'danger' });
  const blocks: KnownBlock[] = [
    plain(requestTitle(request)),
    plain(requestFacts(request)),
    ...parts.map(preformatted),
    ...(isWhole ? [] : [plain(`Not all of it fits here: sub approvals show ${request.id}`)]),
    // Nobody approves what was not shown.
    { type: 'actions', elements: isWhole ? [approve, reject] : [reject] },
  ];
  return { text: escaped(requestTitle(request)), blocks, isWhole };
}

/** What takes the place of the message when it is over: the call stays, the buttons go. */
export function endMessage(request: Approval, ended: Ended): Omit<SlackMessage, 'isWhole'> {
  const words = endText(ended);
  const { parts } = argumentParts(request);
  return {
    text: escaped(`${requestTitle(request)} ${words}`),
    blocks: [plain(requestTitle(request)), ...parts.map(preformatted), plain(words)],
  };
}

function endText(ended: Ended): string {
  if (ended.kind !== 'request' || ended.outcome === null) return 'It has ended without an answer.';
  const { state, by, channel, at, note } = ended.outcome;
  const why = note === undefined ? '' : ` “${visible(note, FIELD_LENGTH_MAX)}”`;
  return `${state} by ${visible(by, FIELD_LENGTH_MAX)} (${channel}) at ${at}.${why}`;
}

function requestTitle({ call }: Approval): string {
  const what = `${visible(call.server, 100)}/${visible(call.tool, 100)}`;
  return `An agent wants to call ${what}.`;
}

function requestFacts({ call, agent, expires_at, about }: Approval): string {
  const lines = [
    `Why it asks: ${visible(call.reason, FIELD_LENGTH_MAX)} (rule ${visible(call.rule_id, 100)})`,
    ...aboutLines(about),
    `Agent: ${visible(agent.agent_id, 100)} (${agent.client}, ${agent.env}), run ${visible(call.run_id, 100)}`,
    `Risk: ${call.risk.length === 0 ? 'none named' : visible(call.risk.join(', '), FIELD_LENGTH_MAX)}`,
    `Until: ${expires_at}`,
  ];
  return lines.join('\n');
}

/** What the agent says of its call: nobody has checked it. */
function aboutLines(about: Approval['about']): readonly string[] {
  if (about === undefined) return [];
  const { request, reasoning, task, judgements = [] } = about;
  return [
    ...(request === undefined ? [] : [`The user said: ${visible(request, FIELD_LENGTH_MAX)}`]),
    `The agent says: ${visible(reasoning, FIELD_LENGTH_MAX)}`,
    `Task: ${visible(task, FIELD_LENGTH_MAX)}`,
    ...judgements
      .slice(0, JUDGEMENTS_SHOWN)
      .map(({ by, verdict, reason }) =>
        visible(`${verdict} by ${by}: ${reason}`, FIELD_LENGTH_MAX),
      ),
  ];
}

/** The arguments in pieces that a block takes; whether that is all of them. */
function argumentParts({ call }: Approval): { parts: readonly string[]; isWhole: boolean } {
  const text = JSON.stringify(call.args, null, 2).split('\n').map(harmless).join('\n');
  const parts: string[] = [];
  for (let at = 0; at < text.length && parts.length < PARTS_MAX; at += PART_LENGTH) {
    parts.push(text.slice(at, at + PART_LENGTH));
  }
  return { parts, isWhole: call.args_complete && text.length <= PART_LENGTH * PARTS_MAX };
}

function plain(text: string): KnownBlock {
  return { type: 'section', text: { type: 'plain_text', text, emoji: false } };
}

function preformatted(text: string): KnownBlock {
  const elements = [{ type: 'text' as const, text }];
  return { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements }] };
}

function button(
  label: string,
  action_id: string,
  { value, style }: { readonly value: string; readonly style: 'primary' | 'danger' },
) {
  const text = { type: 'plain_text' as const, text: label };
  return { type: 'button' as const, text, action_id, value, style };
}

/** As Slack wants it in text that it reads as markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
