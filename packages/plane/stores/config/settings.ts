// Every setting there is: where it is written, what it takes, what holds without it. Reading,
// checking and docs/reference/config.md all follow this table.
import { MAX_INSPECT_BYTES, MAX_PREVIEW_BYTES } from '@subluminal/contracts';
import {
  ADDRESS,
  BOOLEAN,
  integer,
  LISTEN,
  oneWord,
  PATTERNS,
  path,
  type SettingType,
  SINK,
} from './values.ts';

export interface Setting<V = unknown> {
  readonly type: SettingType<V>;
  /** As a person would write it; a setting without one is null unless it is set. */
  readonly fallback?: string | number | boolean | readonly string[];
  /** The environment variable. */
  readonly env: string;
  readonly flag?: string;
  readonly doc: string;
}

const MIB = 1_048_576;
const DAYS_MAX = 36_500;
/** The shortest that a system allows for a Unix socket, its closing zero left out. */
const SOCKET_BYTES_MAX = 103;

const TABLE = {
  'limits.max_inspect_bytes': {
    type: integer(1_024, 64 * MIB),
    fallback: MAX_INSPECT_BYTES,
    env: 'SUB_MAX_INSPECT_BYTES',
    doc: 'A larger message streams through with its hash and is decided on its tool name alone. Its end is held back until all of it is checked.',
  },
  'limits.max_preview_bytes': {
    type: integer(0, 65_536),
    fallback: MAX_PREVIEW_BYTES,
    env: 'SUB_MAX_PREVIEW_BYTES',
    doc: 'How much of the arguments and of the result an event shows.',
  },
  'limits.max_message_bytes': {
    type: integer(1_024, 1_024 * MIB),
    fallback: 10 * MIB,
    env: 'SUB_MAX_MESSAGE_BYTES',
    doc: 'A larger message is refused in the profile `production`.',
  },
  'limits.request_timeout_ms': {
    type: integer(1_000, 86_400_000),
    fallback: 300_000,
    env: 'SUB_REQUEST_TIMEOUT_MS',
    doc: 'A request without an answer for so long is reported as an orphan.',
  },
  'limits.queue_bytes': {
    type: integer(65_536, 1_024 * MIB),
    fallback: 8 * MIB,
    env: 'SUB_QUEUE_BYTES',
    doc: 'Events that wait for the ledger in memory; beyond it previews go, and the rest waits on disk.',
  },
  'shutdown.grace_ms': {
    type: integer(0, 600_000),
    fallback: 5_000,
    env: 'SUB_GRACE_MS',
    doc: 'How long a server may take to end after its input has ended.',
  },
  'shutdown.term_grace_ms': {
    type: integer(0, 600_000),
    fallback: 2_000,
    env: 'SUB_TERM_GRACE_MS',
    doc: 'How long it may take after SIGTERM; then it is killed.',
  },
  'hub.ready_timeout_ms': {
    type: integer(0, 600_000),
    fallback: 30_000,
    env: 'SUB_HUB_READY_TIMEOUT_MS',
    doc: 'How long a shim waits for the hub of its run before it reads the first message. It asks at most 20 times.',
  },
  'hooks.ask': {
    type: oneWord('queue', 'client'),
    fallback: 'queue',
    env: 'SUB_HOOKS_ASK',
    doc: 'Who asks about a tool of the client itself that needs an approval: `queue` holds it until somebody answers by `sub approvals` or a channel, `client` lets the client ask its user where it can ([what that means](hooks.md#questions-of-the-client)).',
  },
  'hooks.suggestions': {
    type: oneWord('tell', 'apply'),
    fallback: 'tell',
    env: 'SUB_HOOKS_SUGGESTIONS',
    doc: 'What becomes of a tool of the client itself that is refused with corrected arguments: `tell` refuses it and tells the model, `apply` runs it with those, where the policy lets them pass and the client can do so.',
  },
  'log.level': {
    type: oneWord('error', 'warn', 'info', 'debug'),
    fallback: 'warn',
    env: 'SUB_LOG_LEVEL',
    flag: 'log-level',
    doc: 'What a shim writes to stderr, as JSON lines: `info` adds a line for each decided call, `debug` one for each message.',
  },
  'events.sink': {
    type: SINK,
    fallback: 'ledger',
    env: 'SUB_EVENTS',
    flag: 'events',
    doc: 'Where events go: `ledger`, `file:PATH` or `off`.',
  },
  'ledger.path': {
    type: path(),
    fallback: '$SUB_HOME/ledger.db',
    env: 'SUB_LEDGER_PATH',
    doc: 'The database of the ledger.',
  },
  'ledger.socket': {
    type: path(SOCKET_BYTES_MAX),
    fallback: '$SUB_HOME/run/ledger.sock',
    env: 'SUB_LEDGER_SOCKET',
    doc: 'The Unix socket of the ledger.',
  },
  'ledger.http': {
    type: LISTEN,
    fallback: '127.0.0.1:0',
    env: 'SUB_LEDGER_HTTP',
    doc: 'Where `sub ledgerd` serves its HTTP API; port 0 takes that of the last time when it is free, else another one. `$SUB_HOME/run/ledger.json` says which, and holds the token.',
  },
  'ledger.idle_exit_ms': {
    type: integer(100, 86_400_000),
    fallback: 60_000,
    env: 'SUB_LEDGER_IDLE_EXIT_MS',
    doc: 'A `sub ledgerd` that was started by a shim or a command ends when nobody has needed it for so long.',
  },
  'ledger.retention_days': {
    type: integer(1, DAYS_MAX),
    fallback: 90,
    env: 'SUB_RETENTION_DAYS',
    doc: 'How long `sub ledgerd` and `sub ledger prune` keep runs.',
  },
  'ledger.retention_previews_days': {
    type: integer(0, DAYS_MAX),
    fallback: 30,
    env: 'SUB_RETENTION_PREVIEWS_DAYS',
    doc: 'How long `sub ledgerd` and `sub ledger prune` keep previews.',
  },
  'policy.path': {
    type: path(),
    env: 'SUB_POLICY',
    flag: 'policy',
    doc: 'The bundle, which then holds alone. Without it, that of the home and that of the project hold; see `sub trust`.',
  },
  'policy.reload': {
    type: oneWord('any', 'tighten', 'off'),
    fallback: 'tighten',
    env: 'SUB_POLICY_RELOAD',
    doc: 'Which changes of the file take effect while a shim runs: `any`, only those that let nothing more pass (`tighten`), or none (`off`).',
  },
  'cedar.policies': {
    type: path(),
    env: 'SUB_CEDAR_POLICIES',
    flag: 'cedar',
    doc: 'Cedar policies: a folder, or one file. Where there are any, each call needs their permit too, and only `sub run` and `sub wrap` can give it.',
  },
  'cedar.schema': {
    type: path(),
    env: 'SUB_CEDAR_SCHEMA',
    doc: 'The schema of the Cedar policies, where it is not in their folder.',
  },
  'cedar.entities': {
    type: path(),
    env: 'SUB_CEDAR_ENTITIES',
    doc: 'The entities of the Cedar policies, where they are not in their folder.',
  },
  profile: {
    type: oneWord('production', 'development'),
    fallback: 'production',
    env: 'SUB_PROFILE',
    flag: 'profile',
    doc: '`production` enforces decisions, `development` only records them; self-protection holds in both.',
  },
  'previews.enabled': {
    type: BOOLEAN,
    fallback: true,
    env: 'SUB_PREVIEWS',
    doc: 'Whether events show arguments and results, redacted and shortened.',
  },
  'redact.extra_patterns': {
    type: PATTERNS,
    fallback: [],
    env: 'SUB_REDACT_EXTRA_PATTERNS',
    doc: 'Regular expressions (RE2) whose matches are redacted, on top of the known secret formats. In the environment, a JSON list.',
  },
  'surface.manifests': {
    type: path(),
    fallback: '$SUB_HOME/manifests',
    env: 'SUB_MANIFESTS',
    doc: 'The folder of the manifests: one file for each server, named after it.',
  },
  'pins.mode': {
    type: oneWord('off', 'on', 'strict'),
    fallback: 'on',
    env: 'SUB_PINS_MODE',
    doc: 'Whether the tools of a server are held against what is known of them. `strict` also blocks a tool that was not listed in this session.',
  },
  'secrets.passphrase_file': {
    type: path(),
    env: 'SUB_VAULT_PASSPHRASE_FILE',
    doc: 'A file of mode 0600 with the passphrase of the store of secrets, for where nobody can type it.',
  },
  'secrets.vault_addr': {
    type: ADDRESS,
    env: 'SUB_VAULT_ADDR',
    doc: 'The address of HashiCorp Vault, for `vault://`. Without it, VAULT_ADDR, with the token of VAULT_TOKEN alone.',
  },
  'secrets.vault_token_file': {
    type: path(),
    env: 'SUB_VAULT_TOKEN_FILE',
    doc: 'A file of mode 0600 with the token for HashiCorp Vault. Without it, VAULT_TOKEN, then `~/.vault-token`.',
  },
  'secrets.connect_addr': {
    type: ADDRESS,
    env: 'SUB_CONNECT_ADDR',
    doc: 'The address of a 1Password Connect server, for `op://`. Without it, OP_CONNECT_HOST, with the token of OP_CONNECT_TOKEN alone.',
  },
  'secrets.connect_token_file': {
    type: path(),
    env: 'SUB_CONNECT_TOKEN_FILE',
    doc: 'A file of mode 0600 with the token for the Connect server. Without it, OP_CONNECT_TOKEN.',
  },
  'proxy.port': {
    type: integer(1, 65_535),
    fallback: 7_777,
    env: 'SUB_PROXY_PORT',
    flag: 'port',
    doc: 'The port of 127.0.0.1 that `sub proxy` listens on.',
  },
  'proxy.fallback': {
    type: oneWord('none', 'own'),
    fallback: 'none',
    env: 'SUB_PROXY_FALLBACK',
    doc: 'What becomes of turns while the gateway is away: `none` refuses them, `own` sends them to the provider with the key of the client, and records that.',
  },
  'proxy.anthropic_url': {
    type: ADDRESS,
    fallback: 'https://api.anthropic.com',
    env: 'SUB_PROXY_ANTHROPIC_URL',
    doc: 'Where `sub proxy` sends turns of the Anthropic wire that go to no gateway.',
  },
  'proxy.openai_url': {
    type: ADDRESS,
    fallback: 'https://api.openai.com/v1',
    env: 'SUB_PROXY_OPENAI_URL',
    doc: 'Where `sub proxy` sends turns of the OpenAI wires that go to no gateway.',
  },
  'proxy.ca_file': {
    type: path(),
    env: 'SUB_PROXY_CA_FILE',
    doc: 'The certificate authority of the gateway, where the system does not know it.',
  },
  'proxy.cert_file': {
    type: path(),
    env: 'SUB_PROXY_CERT_FILE',
    doc: 'The certificate that this machine shows to the gateway, for mutual TLS.',
  },
  'proxy.key_file': {
    type: path(),
    env: 'SUB_PROXY_KEY_FILE',
    doc: 'The private key of that certificate.',
  },
} as const satisfies { readonly [key: string]: Setting };

export type SettingKey = keyof typeof TABLE;

/** What a setting reads its value as; one without a fallback may be null. */
type SettingValue<S extends Setting> =
  | (S['type'] extends SettingType<infer V> ? V : never)
  | (S extends { readonly fallback: unknown } ? never : null);

export type Config = { readonly [K in SettingKey]: SettingValue<(typeof TABLE)[K]> };

export const SETTINGS: { readonly [K in SettingKey]: Setting } = TABLE;

export const SETTING_KEYS: readonly SettingKey[] = Object.keys(SETTINGS).filter(isSettingKey);

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}
