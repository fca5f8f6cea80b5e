// integrations.yaml: what Steward is connected to. Secrets are references, never values.
import {
  array,
  boolean,
  closed,
  defaulted,
  type Infer,
  integer,
  oneOf,
  optional,
  record,
  required,
  string,
} from '../shape/shape.ts';

const text = string({ lengthMax: 512 });
const ref = string({ lengthMax: 1_024 });
const url = string({ lengthMax: 2_048 });
const path = string({ lengthMax: 4_096 });
const host = string({ lengthMax: 255 });
const port = integer({ min: 1, max: 65_535 });
const names = array(text, { itemsMax: 1_000 });
const paths = array(path, { itemsMax: 100 });

const MODEL = closed({
  provider: required(
    oneOf('anthropic', 'openai', 'openai_compat', 'gateway'),
    "Who answers: with a key of your own, any server that speaks OpenAI's chat wire, or the team's gateway (`sub login`).",
  ),
  model: required(text, 'The model, by the name that it has there.'),
  base_url: optional(url, 'The address of an `openai_compat` server; another address of others.'),
  key_ref: optional(ref, 'A reference to the key; none where the server wants none.'),
  timeout_s: defaulted(integer({ min: 1, max: 3_600 }), 120, 'How long an answer may take.'),
});
const chain = (doc: string) => optional(array(MODEL, { itemsMin: 1, itemsMax: 10 }), doc);

const MODELS = closed({
  agent: required(
    array(MODEL, { itemsMin: 1, itemsMax: 10 }),
    'The agent itself. The next is asked when one fails.',
  ),
  guardian: chain('The second model that judges actions; best a small one. As `agent` without it.'),
  background: chain('Heartbeat and schedules. As `agent` without it.'),
  worker: chain('Sub-agents. As `agent` without it.'),
});

const EMBEDDINGS = closed({
  provider: defaulted(
    oneOf('none', 'local', 'openai', 'openai_compat'),
    'none',
    'Where texts become vectors; with `none` the memory is searched by words alone.',
  ),
  model: optional(text, 'The model there.'),
  base_url: optional(url, 'The address of an `openai_compat` server.'),
  key_ref: optional(ref, 'A reference to the key.'),
});

const MAIL_SERVER = closed({
  host: required(host, 'The host.'),
  port: optional(port, 'The port; that of the protocol.'),
  tls: defaulted(
    oneOf('implicit', 'starttls', 'none'),
    'implicit',
    'How it is encrypted; `none` only on this machine.',
  ),
});

const EMAIL = closed({
  address: required(string({ lengthMax: 320 }), 'The address that mail is sent from.'),
  name: optional(text, 'The name beside it.'),
  user: optional(text, 'The login; the address without it.'),
  password_ref: required(ref, 'A reference to the password.'),
  imap: required(MAIL_SERVER, 'Where mail is read.'),
  smtp: required(MAIL_SERVER, 'Where mail is sent.'),
  sent_folder: optional(text, 'The folder for sent mail; the one that the server names.'),
  allow_bcc: defaulted(boolean(), false, 'Whether mail may have hidden recipients.'),
});

const CALENDAR = closed({
  url: required(url, 'The address of the CalDAV account.'),
  user: required(text, 'The login.'),
  password_ref: required(ref, 'A reference to the password.'),
  calendar: optional(text, 'The name of the calendar; the first one.'),
  time_zone: optional(text, 'The zone of times without one, like `Europe/Berlin`; UTC.'),
});

const SEARCH = closed({
  provider: required(oneOf('brave', 'searxng'), 'Whose API it is.'),
  url: optional(url, 'Its address; required for `searxng`.'),
  key_ref: optional(ref, 'A reference to the key.'),
});

const CODING = closed({
  client: required(
    oneOf('claude', 'codex'),
    'The program: Claude Code or Codex, found in `PATH`, with its own login.',
  ),
  folder: required(path, 'The folder that it works in, as an absolute path.'),
  args: defaulted(
    array(string({ lengthMax: 4_096 }), { itemsMax: 100 }),
    [],
    'More arguments for it, such as what it may do without asking.',
  ),
});

const senders = {
  allowed: defaulted(names, [], 'Senders that need no pairing, by their id on the channel.'),
};
const people = {
  ...senders,
  groups: defaulted(names, [], 'Groups or rooms in which it answers when it is mentioned.'),
};

const CHANNELS = closed({
  telegram: optional(
    closed({
      token_ref: required(ref, 'A reference to the token of the bot.'),
      api_url: optional(url, 'The address of the Bot API; that of Telegram.'),
      webhook_secret_ref: optional(
        ref,
        'A reference to the secret of the webhook; without it, updates are polled.',
      ),
      ...people,
    }),
    'Telegram.',
  ),
  slack: optional(
    closed({
      token_ref: required(ref, 'A reference to the token of the bot.'),
      signing_secret_ref: required(ref, 'A reference to the signing secret of the app.'),
      api_url: optional(url, 'The address of the API; that of Slack.'),
      ...people,
    }),
    'Slack.',
  ),
  whatsapp: optional(
    closed({
      token_ref: required(ref, 'A reference to the access token.'),
      phone_number_id: required(text, 'The id of the number that it writes from.'),
      app_secret_ref: required(ref, 'A reference to the secret of the app, which signs webhooks.'),
      verify_token_ref: required(ref, 'A reference to the token of the webhook.'),
      api_url: optional(url, 'The address of the Cloud API; that of Meta.'),
      ...senders,
    }),
    'WhatsApp, by the Cloud API.',
  ),
  signal: optional(
    closed({
      account: required(text, 'The number that it writes from.'),
      rpc: required(text, "HOST:PORT or the socket of signal-cli's JSON-RPC."),
      ...people,
    }),
    'Signal, by signal-cli.',
  ),
  discord: optional(
    closed({
      token_ref: required(ref, 'A reference to the token of the bot.'),
      api_url: optional(url, 'The address of the API; that of Discord.'),
      ...people,
    }),
    'Discord.',
  ),
});

const SERVER = closed({
  command: optional(
    array(string({ lengthMax: 32_768 }), { itemsMin: 1, itemsMax: 1_000 }),
    'Its command and arguments, for a server on stdio.',
  ),
  env: optional(
    record(string({ lengthMax: 8_192 })),
    'Variables for its process; secrets are bound in `config.toml`.',
  ),
  cwd: optional(path, 'The folder that it is started in; the configuration folder without it.'),
  url: optional(url, 'Its address, for a server that is reached by HTTP.'),
  transport: optional(
    oneOf('auto', 'http', 'sse'),
    'How the address is spoken to; auto without it.',
  ),
  headers: optional(record(string({ lengthMax: 8_192 })), 'Headers of each request; no secrets.'),
  header_env: optional(record(text), 'Headers whose values are in variables, by header.'),
  bearer_env: optional(text, 'The variable with its bearer token.'),
});

export const INTEGRATIONS_FILE = closed({
  version: defaulted(integer({ min: 1, max: 1 }), 1, 'The version of this form: 1.'),
  models: required(MODELS, 'The models, a chain for each purpose.'),
  embeddings: defaulted(EMBEDDINGS, {}, 'How the memory finds what means the same.'),
  memory: defaulted(
    closed({
      database_ref: optional(
        ref,
        'A reference to a `postgres://…` URL; a file of its own without it.',
      ),
    }),
    {},
    'Where the memory is kept.',
  ),
  files: defaulted(
    closed({
      folders: defaulted(
        paths,
        [],
        'Folders that it may read and propose changes in, beside its workspace.',
      ),
    }),
    {},
    'Files.',
  ),
  email: optional(EMAIL, 'Mail, by IMAP and SMTP.'),
  calendar: optional(CALENDAR, 'A calendar, by CalDAV.'),
  web: defaulted(closed({ search: optional(SEARCH, 'Who searches the web.') }), {}, 'The web.'),
  coding: optional(CODING, 'A coding agent of your own, for the tool `agents.code`.'),
  channels: defaulted(CHANNELS, {}, 'Where it can be reached beside terminal and page.'),
  webhooks: optional(
    closed({
      listen: defaulted(text, '127.0.0.1:8791', 'HOST:PORT that webhooks of channels come to.'),
      hosts: defaulted(names, [], 'The names by which they may come, in `Host`.'),
    }),
    'Webhooks of channels.',
  ),
  servers: defaulted(record(SERVER), {}, 'MCP servers, by name.'),
  registry: optional(
    url,
    'Where it looks for MCP servers: the address of a registry in the official format, or a JSON file.',
  ),
});

export type IntegrationsFile = Infer<typeof INTEGRATIONS_FILE>;
export type StewardModel = Infer<typeof MODEL>;
