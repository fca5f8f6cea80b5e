// The table [approvals] of config.toml. Secrets are named here, never written: each is a reference
// that the vault resolves.
import { isObject } from '@subluminal/contracts';

interface DesktopSettings {
  readonly perMinuteMax: number;
}
interface WebhookSettings {
  readonly url: string;
  readonly secretRef: string;
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly backoffMs: number;
}
interface SlackSettings {
  readonly tokenRef: string;
  readonly signingSecretRef: string;
  readonly channel: string;
  readonly users: readonly string[];
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly apiUrl: string | undefined;
}

interface ApprovalSettings {
  /** How long what has ended is kept. */
  readonly keepDays: number;
  readonly desktop: DesktopSettings | null;
  readonly webhook: WebhookSettings | null;
  readonly slack: SlackSettings | null;
}

interface SettingsProblem {
  /** Below `approvals`. */
  readonly path: readonly string[];
  readonly code: 'SUB_CONFIG_KEY' | 'SUB_CONFIG_VALUE';
  readonly message: string;
  readonly fix: string;
}

type ReadSettings =
  | { readonly ok: true; readonly settings: ApprovalSettings }
  | { readonly ok: false; readonly problems: readonly SettingsProblem[] };

const NOTHING: ApprovalSettings = { keepDays: 30, desktop: null, webhook: null, slack: null };
/** `env://NAME`, `file://PATH`, …: a name, so that nobody writes the secret itself. */
const REFERENCE = /^[a-z][a-z0-9+-]{1,20}:\/\/[^\s\p{C}]{1,1000}$/u;
const SLACK_ID = /^[A-Z][A-Z0-9]{2,31}$/;
const USERS_MAX = 200;
const URL_LENGTH_MAX = 2_048;

/** One table while it is read: what is asked for is known, what is left over is a mistake. */
class Table {
  readonly #values: { readonly [key: string]: unknown };
  readonly #path: readonly string[];
  readonly #problems: SettingsProblem[];
  readonly #known = new Set<string>();

  constructor(
    values: { readonly [key: string]: unknown },
    path: readonly string[],
    problems: SettingsProblem[],
  ) {
    this.#values = values;
    this.#path = path;
    this.#problems = problems;
  }

  number(
    key: string,
    { min, max, fallback }: Readonly<Record<'min' | 'max' | 'fallback', number>>,
  ) {
    const value = this.#take(key) ?? fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) {
      return value;
    }
    return this.#wrong(key, `a whole number from ${min} to ${max}`, fallback);
  }

  boolean(key: string, fallback: boolean): boolean {
    const value = this.#take(key) ?? fallback;
    return typeof value === 'boolean' ? value : this.#wrong(key, 'true or false', fallback);
  }

  text(key: string, words: string, fits: (text: string) => boolean): string {
    const value = this.#take(key);
    return typeof value === 'string' && fits(value) ? value : this.#wrong(key, words, '');
  }

  maybeText(key: string, words: string, fits: (text: string) => boolean): string | undefined {
    return this.#values[key] === undefined ? undefined : this.text(key, words, fits);
  }

  texts(key: string, words: string, fits: (text: string) => boolean): readonly string[] {
    const value = this.#take(key);
    const isList = Array.isArray(value) && value.length > 0 && value.length <= USERS_MAX;
    if (!isList) return this.#wrong(key, words, []);
    const texts = value.filter((one) => typeof one === 'string' && fits(one));
    return texts.length === value.length ? texts.map(String) : this.#wrong(key, words, []);
  }

  table(key: string): Table | null {
    const value = this.#take(key);
    if (value === undefined) return null;
    if (isObject(value)) return new Table(value, [...this.#path, key], this.#problems);
    return this.#wrong(key, 'a table', null);
  }

  /** Says of each key that nobody has asked for that it is not known. */
  done(): void {
    const known = [...this.#known];
    for (const key of Object.keys(this.#values)) {
      if (this.#known.has(key)) continue;
      const message = `unknown key \`${key.slice(0, 60)}\``;
      const fix = `Write one of ${known.join(', ')}, or remove it.`;
      this.#problems.push({ path: [...this.#path, key], code: 'SUB_CONFIG_KEY', message, fix });
    }
  }

  #take(key: string): unknown {
    this.#known.add(key);
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }

  /** What stands there is not shown: it may be a secret in the wrong place. */
  #wrong<T>(key: string, words: string, instead: T): T {
    const message = `\`${['approvals', ...this.#path, key].join('.')}\` is not ${words}`;
    const path = [...this.#path, key];
    this.#problems.push({ path, code: 'SUB_CONFIG_VALUE', message, fix: `Write ${words}.` });
    return instead;
  }
}

const reference = 'a reference to a secret, like env://NAME or file://PATH';
const isReference = (text: string) => REFERENCE.test(text);

/** Reads what stands under `approvals`; undefined stands for none. */
function readApprovalSettings(value: unknown): ReadSettings {
  if (value === undefined) return { ok: true, settings: NOTHING };
  const problems: SettingsProblem[] = [];
  if (!isObject(value)) {
    const fix = 'Write [approvals], and its settings below it.';
    const message = '`approvals` is not a table';
    return { ok: false, problems: [{ path: [], code: 'SUB_CONFIG_VALUE', message, fix }] };
  }
  const inner = new Table(value, [], problems);
  const settings: ApprovalSettings = {
    keepDays: inner.number('keep_days', { min: 1, max: 36_500, fallback: NOTHING.keepDays }),
    desktop: readDesktop(inner.table('desktop')),
    webhook: readWebhook(inner.table('webhook')),
    slack: readSlack(inner.table('slack')),
  };
  inner.done();
  return problems.length === 0 ? { ok: true, settings } : { ok: false, problems };
}

function readDesktop(table: Table | null): DesktopSettings | null {
  if (table === null) return null;
  const isOn = table.boolean('enabled', true);
  const perMinuteMax = table.number('per_minute', { min: 1, max: 60, fallback: 6 });
  table.done();
  return isOn ? { perMinuteMax } : null;
}

function readWebhook(table: Table | null): WebhookSettings | null {
  if (table === null) return null;
  const settings = {
    url: table.text('url', 'an https address, or http on this machine', isSafeUrl),
    secretRef: table.text('secret', reference, isReference),
    timeoutMs: table.number('timeout_ms', { min: 100, max: 60_000, fallback: 10_000 }),
    attemptsMax: table.number('attempts', { min: 1, max: 10, fallback: 6 }),
    backoffMs: table.number('backoff_ms', { min: 1, max: 60_000, fallback: 1_000 }),
  };
  table.done();
  return settings;
}

function readSlack(table: Table | null): SlackSettings | null {
  if (table === null) return null;
  const isId = (text: string) => SLACK_ID.test(text);
  const settings = {
    tokenRef: table.text('token', reference, isReference),
    signingSecretRef: table.text('signing_secret', reference, isReference),
    channel: table.text('channel', 'the id of a channel, like C0123456789', isId),
    users: table.texts('users', 'a list of ids of users, like U0123456789', isId),
    pollMs: table.number('poll_ms', { min: 100, max: 600_000, fallback: 5_000 }),
    timeoutMs: table.number('timeout_ms', { min: 100, max: 60_000, fallback: 10_000 }),
    apiUrl: table.maybeText('api_url', 'an https address, or http on this machine', isSafeUrl),
  };
  table.done();
  return settings;
}

/** Calls and signatures do not travel in the open, except inside this machine. */
function isSafeUrl(text: string): boolean {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const isHere = hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost';
  return protocol === 'https:' || (protocol === 'http:' && isHere);
}

export type { ApprovalSettings, SettingsProblem, SlackSettings, WebhookSettings };
export { readApprovalSettings };
