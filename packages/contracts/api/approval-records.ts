// A person's decision about a call: the request, its end, and the grant that lasts. These are the
// files of `$SUB_HOME/approvals` and `$SUB_HOME/grants`. Closed: only Subluminal writes them.

import { CLIENT, ENV, WORKLOAD } from '../events/envelope.ts';
import { CALL_JUDGEMENT, JUDGEMENTS_MAX } from '../events/tool-call.ts';
import { isObject, type Parsed, parseAs, parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  closed,
  formatted,
  type Infer,
  integer,
  json,
  nullable,
  oneOf,
  optional,
  record,
  required,
  string,
  variant,
} from '../shape/shape.ts';

const NAME_LENGTH_MAX = 1_024;
const NOTE_LENGTH_MAX = 2_000;
const ARGS_MAX = 256;

const version = required(integer({ min: 1, max: 1 }), 'The form of this file: 1.');
const id = required(string({ lengthMax: 36 }), 'A UUID, the name of the file.');
const name = string({ lengthMax: NAME_LENGTH_MAX });
const note = string({ lengthMax: NOTE_LENGTH_MAX });
const who = required(string({ lengthMax: 256 }), 'Who said so.');
const channel = required(string({ lengthMax: 64 }), 'By which channel.');

const ASKED_CALL = closed({
  run_id: required(name, 'The run.'),
  call_id: required(name, 'The call.'),
  server: required(name, 'The configured server.'),
  tool: required(name, 'The tool, as the server calls it.'),
  args_hash: required(formatted('sha256'), 'The hash of the canonical arguments.'),
  policy_hash: required(formatted('sha256'), 'The hash of the policy that asked.'),
  rule_id: required(name, 'The rule that asked.'),
  args: required(json(), 'What a person must see; secrets are taken out.'),
  args_complete: required(
    boolean(),
    'Whether `args` is all of them; when not, only the hash says what will be done.',
  ),
  risk: required(array(string({ lengthMax: 128 }), { itemsMax: 64 }), 'Risk classes.'),
  reason: required(note, 'Why the rule asks.'),
});

const ASKING_AGENT = closed({
  agent_id: required(name, 'The agent.'),
  client: required(CLIENT, 'The agent client.'),
  env: required(ENV, 'The environment.'),
  principal: optional(name, 'Who started the run.'),
  workload: optional(WORKLOAD, 'What the agent runs in.'),
});

const ASKED_BY = closed({
  pid: required(integer({ min: 1 }), 'The process that waits.'),
  start: required(string({ lengthMax: 64 }), 'When it began; tells two with one id apart.'),
});

/** What an agent says of its call, for the person who decides. Nobody has checked it. */
const CALL_ABOUT = closed({
  reasoning: required(string({ lengthMin: 0, lengthMax: 4_000 }), 'Why the agent makes the call.'),
  task: required(string({ lengthMin: 0, lengthMax: 2_000 }), 'What it works on.'),
  channel: required(string({ lengthMin: 0, lengthMax: 64 }), 'Where the task came from.'),
  request: optional(string({ lengthMin: 0, lengthMax: 4_000 }), 'The words of the user.'),
  judgements: optional(
    array(CALL_JUDGEMENT, { itemsMax: JUDGEMENTS_MAX }),
    'What was thought of the call before it was made.',
  ),
});

export const APPROVAL = closed({
  v: version,
  id,
  created_at: required(formatted('rfc3339'), 'When it was asked.'),
  expires_at: required(formatted('rfc3339'), 'When nobody waits any more.'),
  call: required(ASKED_CALL, 'The call, and nothing but this call.'),
  agent: required(ASKING_AGENT, 'Who wants it.'),
  wait: required(oneOf('hold', 'hint'), 'Whether the call waits, or may be tried again.'),
  asked_by: required(ASKED_BY, 'The process that asked.'),
  about: optional(CALL_ABOUT, 'What the agent says of the call, redacted.'),
});

export const APPROVAL_END = closed({
  v: version,
  id,
  request_sha256: required(formatted('sha256'), 'The request, byte for byte.'),
  state: required(oneOf('approved', 'rejected', 'expired', 'cancelled'), 'How it ended.'),
  at: required(formatted('rfc3339'), 'When.'),
  by: who,
  channel,
  note: optional(note, 'Why.'),
  grant: optional(string({ lengthMax: 36 }), 'The grant that came of it.'),
});

/** What one argument must be. */
const ARG_LIMIT = variant('is', {
  equal: closed({
    is: required(oneOf('equal'), 'The very value.'),
    value: required(json(), 'It.'),
  }),
  like: closed({
    is: required(oneOf('like'), 'A text that fits a glob.'),
    glob: required(string({ lengthMax: 1_024 }), 'The glob.'),
  }),
  any: closed({ is: required(oneOf('any'), 'Any value, or none.') }),
});

const GRANT_ARGS = variant('kind', {
  exact: closed({
    kind: required(oneOf('exact'), 'These arguments alone.'),
    args_hash: required(formatted('sha256'), 'Their hash.'),
  }),
  pattern: closed({
    kind: required(oneOf('pattern'), 'Arguments within limits.'),
    names: required(record(ARG_LIMIT), 'By name; an argument that is not named may not be there.'),
  }),
  any: closed({ kind: required(oneOf('any'), 'Any arguments.') }),
});

const GRANT_MATCH = closed({
  server: required(name, 'The server.'),
  tool: required(name, 'The tool.'),
  rule_id: required(name, 'The rule that is answered.'),
  agent_id: required(name, 'The agent.'),
  env: required(ENV, 'The environment.'),
  principal: required(nullable(name), 'Who started the run; null for a run that names nobody.'),
  run_id: required(nullable(name), 'The run; null for every run.'),
  policy_hash: required(nullable(formatted('sha256')), 'The policy; null for every one.'),
  args: required(GRANT_ARGS, 'The arguments.'),
});

export const GRANT = closed({
  v: version,
  id,
  kind: required(oneOf('once', 'run', 'minutes', 'always'), 'How long it lasts.'),
  created_at: required(formatted('rfc3339'), 'When it was given.'),
  expires_at: required(nullable(formatted('rfc3339')), 'When it ends; null when only revoked.'),
  by: who,
  channel,
  note: optional(note, 'Why.'),
  request: required(string({ lengthMax: 36 }), 'The request it came from.'),
  match: required(GRANT_MATCH, 'What it covers.'),
});

export const GRANT_END = closed({
  v: version,
  id,
  state: required(oneOf('used', 'revoked'), 'How it ended.'),
  at: required(formatted('rfc3339'), 'When.'),
  by: who,
  call_id: optional(name, 'The call that used it up.'),
});

export type Approval = Infer<typeof APPROVAL>;
export type ApprovalCall = Infer<typeof ASKED_CALL>;
export type ApprovalAbout = Infer<typeof CALL_ABOUT>;
export type ApprovalAgent = Infer<typeof ASKING_AGENT>;
export type ApprovalEnd = Infer<typeof APPROVAL_END>;
export type ArgLimit = Infer<typeof ARG_LIMIT>;
export type Grant = Infer<typeof GRANT>;
export type GrantArgs = Infer<typeof GRANT_ARGS>;
export type GrantEnd = Infer<typeof GRANT_END>;

export const parseApproval = parserFor<Approval>(APPROVAL);

export const parseApprovalEnd = parserFor<ApprovalEnd>(APPROVAL_END);

/** How many arguments a pattern names; by hand, since the inferred type is too deep for some tools. */
function namedIn(args: unknown): number {
  if (!isObject(args) || args['kind'] !== 'pattern') return 0;
  return isObject(args['names']) ? Object.keys(args['names']).length : 0;
}

/** A pattern names a bounded number of arguments: each is tried on each call. */
export function parseGrant(value: unknown): Parsed<Grant> {
  const parsed = parseAs<typeof GRANT>(GRANT, value);
  const count = parsed.ok ? namedIn(parsed.value.match.args) : 0;
  if (count <= ARGS_MAX) return parsed;
  const expected = `at most ${ARGS_MAX} arguments`;
  const path = ['match', 'args', 'names'];
  const got = `${count} of them`;
  return { ok: false, mismatches: [{ path, problem: 'value', expected, got, choices: [] }] };
}

export const parseGrantEnd = parserFor<GrantEnd>(GRANT_END);
