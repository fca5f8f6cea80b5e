// Servers, their pins and their secrets over the HTTP API of the ledger daemon. Servers wrote the names
// and definitions in the answers: hostile text.

import {
  array,
  boolean,
  closed,
  formatted,
  type Infer,
  integer,
  nullable,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { TIME_MS } from './answers.ts';

/** How many servers are listed, and how many tools of each in the list and in the answer about one. */
export const API_SERVERS_LIMIT = { servers: 256, toolsListed: 50, tools: 1_000 } as const;
export const API_SERIES_BUCKETS = { max: 500, fallback: 60 } as const;
/** The longest definition that is shown, and so the longest that can be accepted here. */
export const API_DEFINITION_LENGTH_MAX = 262_144;
/** What accepting may come to: a name and two hashes for each tool. */
export const API_ACCEPT_BYTES_MAX = 1_048_576;
const DESCRIPTION_LENGTH_MAX = 2_000;
const NAME_LENGTH_MAX = 1_024;
const CHANGES_MAX = 1_000;
const FIELDS_MAX = 200;

const count = integer({ min: 0 });
const words = string({ lengthMin: 0 });
const sha256OrNull = nullable(formatted('sha256'));
const timeOrNull = nullable(integer());
const server_name = required(words, 'The server, as it is configured.');

const RANGE_FIELDS = {
  from_ms: optional(TIME_MS, 'From this time on.'),
  to_ms: optional(TIME_MS, 'Before this time.'),
} as const;

export const SERVERS_QUERY = closed(RANGE_FIELDS);

export const SERIES_QUERY = closed({
  ...RANGE_FIELDS,
  buckets: optional(integer({ min: 1, max: API_SERIES_BUCKETS.max }), 'How many buckets; 60.'),
  tool_name: optional(string({ lengthMax: NAME_LENGTH_MAX }), 'Only calls of this tool.'),
});

const PIN = open({
  hash: required(words, 'Of the whole definition.'),
  seen_at_ms: required(integer(), 'When it was first seen.'),
  accepted_at_ms: required(
    timeOrNull,
    'When a person accepted it; null while the first sight holds.',
  ),
});

/** What a session has noticed, and no person has accepted since. */
const PENDING_CHANGE = open({
  tool_name: required(nullable(words), 'The tool; null for the instructions of the server.'),
  enforced: required(boolean(), 'Whether calls are refused because of it.'),
  detail: required(words, 'In words; it names the fields that changed.'),
  run_id: required(words, 'The run that saw it last.'),
  at_ms: required(integer(), 'When it was last seen.'),
});

const CALL_TOTALS = {
  calls: required(count, 'Calls in the time that was asked for.'),
  refused: required(count, 'Those that were not allowed.'),
  errors: required(count, 'Allowed calls that did not end well.'),
  last_call_at_ms: required(timeOrNull, 'The last of them.'),
} as const;

const SERVER_TOOL = open({
  tool_name: required(words, 'The tool, as the server calls it.'),
  description: required(
    nullable(string({ lengthMin: 0, lengthMax: DESCRIPTION_LENGTH_MAX })),
    'The beginning of its pinned description; null when none is known.',
  ),
  risk_class: required(array(words), 'The risk classes of its last call.'),
  tier: required(
    nullable(oneOf('auto_execute', 'log_and_execute', 'human_approval', 'forbidden')),
    'What its manifest says of it; null without a manifest.',
  ),
  pin: required(nullable(PIN), 'Its pin; null when it is not pinned.'),
  change: required(nullable(PENDING_CHANGE), 'A change that nobody has accepted yet.'),
  ...CALL_TOTALS,
});

const MANIFEST_STATE = open({
  state: required(oneOf('none', 'valid', 'broken'), 'Whether there is one, and it can be used.'),
  path: required(words, 'Its file.'),
  hash: required(nullable(words), 'Of the compiled manifest; null without a valid one.'),
  problem: required(nullable(words), 'The first thing that is wrong with it.'),
});

const BREAKER_STATE = open({
  state: required(
    oneOf('unknown', 'closed', 'open'),
    '`open`: a run that goes on has paused its calls. `unknown`: no event of such a run tells.',
  ),
  detail: required(nullable(words), 'What the event says, in words.'),
  at_ms: required(timeOrNull, 'When.'),
  run_id: required(nullable(words), 'The run that it tells of.'),
});

const BREAKER_TRIPPED = open({
  rule_id: required(words, 'The rule of the policy that tripped.'),
  tool_name: required(nullable(words), 'The tool of the call that tripped it.'),
  action: required(words, 'What was done.'),
  detail: required(words, 'How much of what there was.'),
  run_id: required(words, 'The run.'),
  at_ms: required(integer(), 'When.'),
});

export const API_SERVER = open({
  server_name,
  clients: required(array(words), 'Clients whose runs have called it.'),
  ...CALL_TOTALS,
  tools_total: required(count, 'How many tools were called, or are pinned.'),
  tools: required(
    array(SERVER_TOOL, { itemsMax: API_SERVERS_LIMIT.tools }),
    'The most called first; the list of servers has the first 50.',
  ),
  instructions_pin: required(nullable(PIN), 'The pin of its instructions.'),
  changes: required(
    array(PENDING_CHANGE, { itemsMax: CHANGES_MAX }),
    'Changed definitions that nobody has accepted yet.',
  ),
  manifest: required(MANIFEST_STATE, 'Its manifest.'),
  breaker: required(BREAKER_STATE, 'Its circuit breaker, by what is on record.'),
  last_trip: required(nullable(BREAKER_TRIPPED), 'The last breaker rule that tripped over it.'),
});

const pins_problem = required(
  nullable(words),
  'Why the pins cannot be trusted; null when they can.',
);

export const API_SERVERS = open({
  rows: required(array(API_SERVER, { itemsMax: API_SERVERS_LIMIT.servers }), 'By name.'),
  cut: required(boolean(), 'Whether there are more servers.'),
  pins_problem,
});

const values = { itemsMax: API_SERIES_BUCKETS.max } as const;

export const API_SERVER_SERIES = open({
  from_ms: required(integer(), 'Where the first bucket begins.'),
  bucket_ms: required(integer({ min: 1 }), 'How long each is.'),
  calls: required(array(count, values), 'Calls that began in it.'),
  refused: required(array(count, values), 'Those that were not allowed.'),
  errors: required(array(count, values), 'Allowed calls that did not end well.'),
  p50_ms: required(
    array(nullable(count), values),
    'The median latency of allowed calls that have ended; null without one.',
  ),
  p95_ms: required(array(nullable(count), values), 'What 95 of 100 of them took at most.'),
});

const definition = nullable(string({ lengthMin: 0, lengthMax: API_DEFINITION_LENGTH_MAX }));

const FIELD_CHANGE = open({
  kind: required(oneOf('added', 'removed', 'changed'), 'What happened to the field.'),
  path: required(words, 'Like `inputSchema.properties.to.description`; empty for the whole.'),
  before: optional(words, 'The beginning of what was there.'),
  after: optional(words, 'The beginning of what is there.'),
});

const SEEN_CHANGE = {
  pinned: required(sha256OrNull, 'The hash of the pin; null when nothing is pinned.'),
  seen: required(sha256OrNull, 'The hash of what was seen; null when it is gone or has none.'),
  before: required(definition, 'What is pinned, as text; null when it is not kept.'),
  after: required(definition, 'What was seen, whole; null when it is gone, or too long.'),
  fields: required(array(FIELD_CHANGE, { itemsMax: FIELDS_MAX }), 'The change, field by field.'),
  acceptable: required(
    boolean(),
    'Whether it can be accepted here: only what was shown whole, and is there once.',
  ),
} as const;

const SEEN_TOOL = open({
  tool_name: required(words, 'The tool.'),
  kind: required(
    oneOf('same', 'added', 'removed', 'changed', 'ambiguous', 'unpinnable'),
    'How it differs from its pin.',
  ),
  ...SEEN_CHANGE,
});

const PROBE = open({
  at_ms: required(integer(), 'When the server was looked at.'),
  expires_at_ms: required(integer(), 'Until when it can be accepted.'),
  transport: required(oneOf('stdio', 'http', 'sse'), 'How it was reached.'),
  found_in: required(nullable(words), 'The config that says how it is started.'),
  first_sight: required(boolean(), 'Whether the server has no pins yet.'),
  changed: required(boolean(), 'Whether anything differs from the pins.'),
  tools_total: required(count, 'How many tools were compared.'),
  tools: required(
    array(SEEN_TOOL, { itemsMax: 2 * API_SERVERS_LIMIT.tools }),
    'What has changed first; what is the same comes without texts.',
  ),
  renamed: required(
    array(open({ from: required(words, 'The old name.'), to: required(words, 'The new one.') }), {
      itemsMax: 100,
    }),
    'Tools that differ in nothing but the name.',
  ),
  instructions: required(
    open({
      kind: required(
        oneOf('unknown', 'same', 'added', 'changed', 'unpinnable'),
        'How they differ from their pin.',
      ),
      ...SEEN_CHANGE,
    }),
    'The instructions of the server; the empty text stands for none.',
  ),
});

export const API_PINS_DIFF = open({
  server_name,
  is_pinned: required(boolean(), 'Whether anything of it is pinned.'),
  changes: required(
    array(PENDING_CHANGE, { itemsMax: CHANGES_MAX }),
    'What sessions have noticed; the new definitions are not on record.',
  ),
  probe: required(
    nullable(PROBE),
    'The last look at the server, compared with the pins as they are now; null without one.',
  ),
});

export const PROBE_BODY = closed({
  client: optional(string({ lengthMax: 64 }), 'Only as this client would start it.'),
});

const seenHash = required(sha256OrNull, 'The hash that was shown as `seen`.');
const pinnedHash = required(sha256OrNull, 'The hash that was shown as `pinned`.');

export const ACCEPT_PINS_BODY = closed({
  tools: required(
    array(
      closed({
        tool_name: required(string({ lengthMax: NAME_LENGTH_MAX }), 'The tool.'),
        seen: seenHash,
        pinned: pinnedHash,
      }),
      { itemsMax: API_SERVERS_LIMIT.tools },
    ),
    'What is accepted, exactly as it was shown.',
  ),
  instructions: optional(
    closed({ seen: seenHash, pinned: pinnedHash }),
    'The instructions, exactly as they were shown.',
  ),
});

export const API_PINS_ACCEPTED = open({
  accepted: required(
    array(words, { itemsMax: API_SERVERS_LIMIT.tools }),
    'The tools whose pins were written.',
  ),
  instructions: required(boolean(), 'Whether the pin of the instructions was written.'),
  diff: required(API_PINS_DIFF, 'As it is now.'),
});

const BINDING = open({
  server_name,
  inject_as: required(words, 'The variable that the server finds it in.'),
  redact: required(boolean(), 'Whether it is taken out of all that is recorded.'),
  bound_to: required(
    oneOf('any', 'command', 'url'),
    'Whether the server must be started by one command, or reached by one address, to get it.',
  ),
});

const SECRET = open({
  name: required(words, 'Its name, never its value.'),
  source: required(oneOf('env', 'file', 'keychain', 'vault'), 'Where it is kept.'),
  is_stored: required(
    nullable(boolean()),
    'Of our own store: whether it is there; null for another place, which is not looked at.',
  ),
  added_at: required(nullable(words), 'When it came into our own store.'),
  rotated_at: required(nullable(words), 'When it last got another value.'),
  bindings: required(array(BINDING), 'The servers that get it.'),
  used_by_login: required(boolean(), 'Whether it belongs to a login of `sub auth`.'),
  last_used_at_ms: required(timeOrNull, 'When a server was last to get it, by the ledger.'),
  last_use_ok: required(nullable(boolean()), 'Whether it was found then.'),
});

export const API_SECRETS = open({
  store: required(
    open({
      state: required(oneOf('none', 'there', 'unreadable'), 'Whether there is a store.'),
      protection: required(
        nullable(oneOf('keychain', 'passphrase', 'file')),
        'Where the key of the store is.',
      ),
      problem: required(nullable(words), 'Why it cannot be read.'),
    }),
    'Our own store. It is not opened for this: `sub secrets list` checks it.',
  ),
  rows: required(array(SECRET), 'By name.'),
});

export type ApiServersQuery = Infer<typeof SERVERS_QUERY>;
export type ApiSeriesQuery = Infer<typeof SERIES_QUERY>;
export type ApiServer = Infer<typeof API_SERVER>;
export type ApiServerTool = Infer<typeof SERVER_TOOL>;
export type ApiPendingChange = Infer<typeof PENDING_CHANGE>;
export type ApiServers = Infer<typeof API_SERVERS>;
export type ApiServerSeries = Infer<typeof API_SERVER_SERIES>;
export type ApiPinsDiff = Infer<typeof API_PINS_DIFF>;
export type ApiProbe = Infer<typeof PROBE>;
export type ApiSeenTool = Infer<typeof SEEN_TOOL>;
export type ApiProbeWish = Infer<typeof PROBE_BODY>;
export type ApiAcceptPins = Infer<typeof ACCEPT_PINS_BODY>;
export type ApiPinsAccepted = Infer<typeof API_PINS_ACCEPTED>;
export type ApiSecrets = Infer<typeof API_SECRETS>;
