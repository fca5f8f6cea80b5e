// What happens beside the calls, in words.
import type { EventOf } from '@subluminal/contracts';
import { plural } from '../terminal/text.ts';
import type { Notice } from './fold.ts';

export interface NoticeText {
  readonly mark: string;
  readonly text: string;
  /** Somebody may have to look after it. */
  readonly isBad: boolean;
}

interface Names {
  /** The id of the run, as long as there is room for. */
  readonly runName: string;
  /** The server of the shim that told it; null when no call of it was seen. */
  readonly serverName: string | null;
}

/** Hostile as it comes; whoever prints it makes it harmless. */
export function noticeText(event: Notice, { runName, serverName }: Names): NoticeText {
  switch (event.type) {
    case 'run_start':
      return runStarted(event, runName);
    case 'run_end':
      return runEnded(event, runName);
    case 'policy_loaded': {
      const { policy_id, policy_version, policy_hash } = event.policy;
      const named = `${policy_id} ${policy_version} (${policy_hash.slice(0, 12)}…)`;
      const where = serverName === null ? '' : ` for ${serverName}`;
      return calm('↻', `policy reloaded${where}: ${named}, ${event.mode}`);
    }
    case 'breaker_trip': {
      const { rule_id, cause, count, window_ms, action, server_name, tool_name } = event.breaker;
      const where = tool_name === undefined ? '' : ` at ${server_name ?? '?'}/${tool_name}`;
      return bad(
        '!',
        `breaker ${rule_id} tripped${where}: ${count} ${cause} in ${window_ms} ms, ${action}`,
      );
    }
    case 'secret_injection': {
      const { secret_ref, inject_as, source, success, server_name } = event.secret;
      const into = server_name === undefined ? inject_as : `${inject_as} of ${server_name}`;
      return success
        ? calm('·', `secret ${secret_ref} given as ${into} (from ${source})`)
        : bad('!', `secret ${secret_ref} is missing: ${into} was not set (from ${source})`);
    }
    case 'approval':
      return approvalText(event, serverName);
    case 'surface':
      return surfaceText(event);
    case 'shim_health': {
      const { status, reason, events_spooled = 0, previews_dropped = 0 } = event.health;
      const lost = `${plural(events_spooled, 'event')} spooled, ${plural(previews_dropped, 'preview')} dropped`;
      const whose = serverName === null ? 'a shim' : `the shim of ${serverName}`;
      return bad('!', `${whose} is ${status}: ${reason ?? lost}`);
    }
  }
}

function runStarted(event: EventOf<'run_start'>, runName: string): NoticeText {
  const { agent_id, client, env, run } = event;
  const { policy_id, policy_version } = run.policy;
  return calm(
    '▶',
    `run ${runName} of ${agent_id} (${client}, ${env}), ${run.mode} by ${policy_id} ${policy_version}`,
  );
}

const SHORT_LENGTH = 8;
const APPROVAL_WORDS = {
  asked: 'waits for a person',
  approved: 'was approved',
  rejected: 'was rejected',
  expired: 'was not approved in time',
  cancelled: 'was given up before anybody had approved it',
  auto_approved: 'was approved by the development profile',
} as const;

function approvalText({ approval }: EventOf<'approval'>, serverName: string | null): NoticeText {
  const { id, rule_id, state, by, channel, grant_id } = approval;
  const where = serverName === null ? 'a call' : `a call to ${serverName}`;
  const isSaid = state === 'approved' || state === 'rejected';
  const who = isSaid && by !== undefined ? ` by ${by}${channel ? ` (${channel})` : ''}` : '';
  const through = grant_id === undefined || state !== 'approved' ? '' : `, grant ${grant_id}`;
  // First, so that it is never cut off. The end of an id tells it apart: its start is the time.
  const asked = state === 'asked' && id ? `sub approvals show ${id.slice(-SHORT_LENGTH)}: ` : '';
  const text = `${asked}${where} ${APPROVAL_WORDS[state]}${who}${through} (rule ${rule_id})`;
  return state === 'asked' ? bad('?', text) : calm('·', text);
}

const SURFACE_WORDS = {
  tool_hidden: 'is hidden',
  tool_changed: 'has changed',
  tool_added: 'is new',
  tool_removed: 'is gone',
  schema_rewritten: 'is shown with another schema',
  instructions_changed: 'has other instructions',
  definition_suspicious: 'has a suspicious definition',
  look_alike: 'looks like another tool',
  server_state: 'has changed its state',
} as const;
/** What is expected to happen; all else somebody may have to look after. */
const USUAL: ReadonlySet<string> = new Set([
  'tool_hidden',
  'tool_added',
  'tool_removed',
  'schema_rewritten',
]);

function surfaceText({ surface }: EventOf<'surface'>): NoticeText {
  const { what, enforced, server_name, name, detail } = surface;
  const whose = name === undefined ? server_name : `${server_name}/${name}`;
  const told = enforced ? '' : ' (told only)';
  const text = `${whose} ${SURFACE_WORDS[what]}${told}: ${detail}`;
  return USUAL.has(what) ? calm('·', text) : bad('!', text);
}

function runEnded({ run }: EventOf<'run_end'>, runName: string): NoticeText {
  const { calls_total, calls_allowed, calls_blocked, calls_throttled, errors_total } = run.summary;
  const parts = [
    plural(calls_total, 'call'),
    `${calls_allowed} allowed`,
    `${calls_blocked} blocked`,
    `${calls_throttled} throttled`,
    plural(errors_total, 'error'),
    `${(run.summary.duration_ms / 1_000).toFixed(1)} s`,
  ];
  const text = `run ${runName} ${run.status}: ${parts.join(', ')}`;
  return run.status === 'SUCCEEDED' || run.status === 'CANCELLED'
    ? calm('■', text)
    : bad('■', text);
}

function calm(mark: string, text: string): NoticeText {
  return { mark, text, isBad: false };
}

function bad(mark: string, text: string): NoticeText {
  return { mark, text, isBad: true };
}
