// The files of a gateway's configuration folder as people write them; `policies/main.yaml` has a reader of its own.

import { type Parsed, parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  closed,
  defaulted,
  type Infer,
  integer,
  nullable,
  number,
  type ObjectShape,
  oneOf,
  optional,
  record,
  required,
  string,
} from '../shape/shape.ts';
import { WEBHOOK_EVENT } from './api-inputs.ts';
import { TRUST_TIER } from './model-decision.ts';

const id = string({ lengthMax: 128 });
const ref = string({ lengthMax: 1_024 });
const url = string({ lengthMax: 2_048 });
const path = string({ lengthMax: 4_096 });
const names = array(string({ lengthMax: 256 }), { itemsMax: 1_000 });
const version = defaulted(integer({ min: 1, max: 1 }), 1, 'The version of this form: 1.');

const PROVIDER_NAMES = [
  'anthropic',
  'openai',
  'openai_compat',
  'openrouter',
  'litellm',
  'azure_openai',
] as const;

const supported = (isDefault: boolean, doc: string) => defaulted(boolean(), isDefault, doc);
const SUPPORTS = closed({
  streaming: supported(true, 'It streams answers.'),
  tools: supported(false, 'It takes tools.'),
  cache_control: supported(false, 'It takes cache marks.'),
  extended_thinking: supported(false, 'It thinks.'),
  images: supported(false, 'It takes images.'),
  responses: supported(false, 'It speaks the Responses wire.'),
});

const ENDPOINT = closed({
  provider: required(oneOf(...PROVIDER_NAMES), 'How it is addressed.'),
  url: required(url, 'Its base URL.'),
  key_ref: optional(ref, 'A reference to its key; none when it wants no key.'),
  team_key_refs: optional(record(ref), 'References to keys that teams bring, by team.'),
  data_residency: required(string({ lengthMax: 64 }), 'Where it keeps data, like `eu`.'),
  trust_tier: required(TRUST_TIER, 'How far it is trusted.'),
  supports: defaulted(SUPPORTS, {}, 'What it can be asked for.'),
  deployments: defaulted(names, [], 'The deployments of an Azure resource.'),
  api_version: optional(string({ lengthMax: 64 }), 'The API version of an Azure resource.'),
  concurrency_max: defaulted(integer({ min: 1, max: 100_000 }), 64, 'Calls at the same time.'),
});

const POOL = closed({
  members: required(
    array(
      closed({
        endpoint_id: required(id, 'A registered endpoint.'),
        model: required(string({ lengthMax: 256 }), 'The model there.'),
        deployment: optional(string({ lengthMax: 256 }), 'The deployment, for Azure.'),
        weight: defaulted(integer({ min: 1, max: 1_000_000 }), 1, 'Its share of the turns.'),
      }),
      { itemsMax: 100 },
    ),
    'What turns are spread over.',
  ),
  fallback_pool: optional(nullable(id), 'The pool that is tried next.'),
  max_attempts: defaulted(integer({ min: 1, max: 10 }), 2, 'Calls of upstreams at most.'),
  timeout_ms: defaulted(
    integer({ min: 100, max: 3_600_000 }),
    120_000,
    'How long an upstream may take to begin its answer.',
  ),
  max_output_tokens: defaulted(
    integer({ min: 1, max: 10_000_000 }),
    32_000,
    'What is reserved for a turn that does not say how much it may answer.',
  ),
});

const POOLS_FILE = closed({
  version,
  provider_endpoints: required(record(ENDPOINT), 'The only places that turns may go to.'),
  pools: required(record(POOL), 'Named groups of models.'),
});

const cents = number({ min: 0, max: 100_000_000 });
const COST_SOURCE = oneOf('provider_usage', 'estimated');

const PRICE = {
  model: required(string({ lengthMax: 256 }), 'The model, with or without its date.'),
  input_cents_per_mtok: required(cents, 'A million tokens in.'),
  output_cents_per_mtok: required(cents, 'A million tokens out.'),
  cache_write_cents_per_mtok: optional(cents, 'Written to the cache for 5 minutes.'),
  cache_write_hour_cents_per_mtok: optional(cents, 'Written to the cache for an hour.'),
  cache_read_cents_per_mtok: optional(cents, 'Read from the cache.'),
  cost_source: optional(COST_SOURCE, 'How exact this price is.'),
};
const PRICES_MAX = 1_000;

/** Prices of a developer's own home: the same entries, of the providers that a run can speak to. */
const OWN_PRICES = closed({
  prices: required(
    array(closed({ provider: required(oneOf('anthropic', 'openai'), 'The provider.'), ...PRICE }), {
      itemsMax: PRICES_MAX,
    }),
    'What a million tokens cost, in US cents.',
  ),
});

const PRICING_FILE = closed({
  version,
  cost_source_default: defaulted(COST_SOURCE, 'provider_usage', 'How exact the prices are.'),
  prices: required(
    array(
      closed({
        provider: required(oneOf(...PROVIDER_NAMES), 'The provider.'),
        endpoint: optional(id, 'The endpoint, where only its price is meant.'),
        ...PRICE,
      }),
    ),
    'What a million tokens cost, in US cents.',
  ),
});

const BUDGET_LIMIT = closed({
  cap_usd: required(number({ min: 0, max: 1_000_000_000 }), 'The limit in US dollars.'),
  soft_percent: defaulted(integer({ min: 1, max: 100 }), 80, 'When a warning goes out.'),
  on_exceeded: defaulted(
    oneOf('refuse', 'require_approval', 'warn'),
    'refuse',
    'What happens to a turn beyond the limit.',
  ),
});

const BUDGETS_FILE = closed({
  version,
  defaults: defaulted(
    closed({
      team_monthly: optional(BUDGET_LIMIT, 'Each team, in a month.'),
      user_daily: optional(BUDGET_LIMIT, 'Each user, in a day.'),
      run: optional(BUDGET_LIMIT, 'Each run or session.'),
    }),
    {},
    'What holds for those that have no limit of their own.',
  ),
  teams: defaulted(
    record(closed({ monthly: required(BUDGET_LIMIT, 'In a month.') })),
    {},
    'Teams.',
  ),
  users: defaulted(record(closed({ daily: required(BUDGET_LIMIT, 'In a day.') })), {}, 'Users.'),
  reservation_expires_ms: defaulted(
    integer({ min: 5_000, max: 3_600_000 }),
    600_000,
    'How long money stays reserved for the turns of a gateway that died.',
  ),
});

const WEBHOOKS_FILE = closed({
  version,
  allowed_hosts: defaulted(names, [], 'Hosts that may be sent to; `*.example.com` for all below.'),
  allow_private_addresses: defaulted(boolean(), false, 'Whether they may be in a private network.'),
  webhooks: defaulted(
    array(
      closed({
        id: required(id, 'Its name.'),
        url: required(url, 'Where it is sent, by https.'),
        events: required(array(WEBHOOK_EVENT, { itemsMin: 1 }), 'What is sent.'),
        secret_ref: required(ref, 'A reference to the secret that signs it.'),
      }),
      { itemsMax: 100 },
    ),
    [],
    'Where events are sent.',
  ),
});

const IDENTITIES_MAX = 10_000;

const USERS_FILE = closed({
  version,
  users: required(
    array(
      closed({
        user_id: required(id, 'The user.'),
        team_id: required(id, 'The team of the user.'),
        email: optional(string({ lengthMax: 320 }), 'The address of the user.'),
      }),
      { itemsMax: IDENTITIES_MAX },
    ),
    'Who uses the gateway.',
  ),
});

const TEAMS_FILE = closed({
  version,
  teams: required(
    array(
      closed({
        team_id: required(id, 'The team.'),
        name: optional(string({ lengthMax: 256 }), 'What people call it.'),
      }),
      { itemsMax: IDENTITIES_MAX },
    ),
    'Who pays.',
  ),
});

const REPOS_FILE = closed({
  version,
  repos: required(
    array(
      closed({
        repo_id: required(id, 'The repository.'),
        team_id: optional(id, 'The team that it belongs to.'),
        remotes: defaulted(array(url, { itemsMax: 32 }), [], 'Its remote URLs.'),
        owners: defaulted(
          names,
          [],
          'The users who answer for it; the webhook of an approval names them.',
        ),
        sensitivity: defaulted(
          oneOf('low', 'medium', 'high', 'unknown'),
          'unknown',
          'How sensitive its code is.',
        ),
        tags: defaulted(names, [], 'Tags that policies ask for.'),
        storage: defaulted(
          oneOf('metadata_only', 'disabled'),
          'metadata_only',
          'What is kept about its turns beside the audit.',
        ),
      }),
      { itemsMax: IDENTITIES_MAX },
    ),
    'The repositories that policies know.',
  ),
});

const perMinute = integer({ min: 1, max: 1_000_000_000 });
const days = integer({ min: 1, max: 36_500 });

const GATEWAY_FILE = closed({
  version,
  tenant_id: defaulted(id, 'default', 'The tenant that all records belong to.'),
  listen: defaulted(
    closed({
      host: defaulted(string({ lengthMax: 255 }), '127.0.0.1', 'The address it listens on.'),
      port: defaulted(integer({ min: 0, max: 65_535 }), 8_790, 'The port; 0 takes a free one.'),
    }),
    {},
    'Where it listens.',
  ),
  tls: optional(
    closed({
      cert_file: required(path, 'The certificate chain, PEM.'),
      key_file: required(path, 'The private key, PEM.'),
      client_ca_file: optional(path, 'The authority of client certificates: mutual TLS.'),
    }),
    'TLS of its own.',
  ),
  ip_allowlist: defaulted(names, [], 'Addresses or CIDR ranges that may connect; empty for all.'),
  trusted_proxies: defaulted(
    names,
    [],
    'Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.',
  ),
  limits: defaulted(
    closed({
      body_bytes_max: defaulted(
        integer({ min: 1_024, max: 104_857_600 }),
        10_485_760,
        'The largest body.',
      ),
      bodies_bytes_max: defaulted(
        integer({ min: 1_048_576, max: 1_099_511_627_776 }),
        536_870_912,
        'The bodies of all turns under way together. A body takes up to four times its size.',
      ),
      turns_max: defaulted(integer({ min: 1, max: 100_000 }), 1_000, 'Turns at the same time.'),
      requests_per_minute: defaulted(perMinute, 60_000, 'All keys together.'),
      key_requests_per_minute: defaulted(perMinute, 600, 'Each key.'),
      failed_logins_per_minute: defaulted(perMinute, 30, 'Each address.'),
    }),
    {},
    'What it takes at most.',
  ),
  database: optional(
    closed({
      url: optional(url, '`sqlite:PATH` or `postgres://…` without a password.'),
      url_ref: optional(ref, 'A reference to a URL that holds a password.'),
    }),
    'Its database; SQLite in the home of Subluminal without it.',
  ),
  retention: defaulted(
    closed({
      audit_days: defaulted(days, 400, 'The audit.'),
      cost_days: defaulted(days, 400, 'Costs; their daily sums stay.'),
      routing_days: defaulted(days, 90, 'Routing choices.'),
      raw_days: defaulted(days, 30, 'Metadata of raw records.'),
    }),
    {},
    'How long records are kept.',
  ),
  telemetry: defaulted(
    closed({
      metrics: defaulted(boolean(), true, 'Whether `/metrics` is served.'),
      metrics_token_ref: optional(ref, 'A reference to the token that a scraper of it sends.'),
      otlp_endpoint: optional(url, 'The OTLP/HTTP collector for traces.'),
      otlp_authorization_ref: optional(ref, 'A reference to its `Authorization`.'),
    }),
    {},
    'What it tells about itself.',
  ),
  approvals: defaulted(
    closed({
      expires_ms: defaulted(
        integer({ min: 1_000, max: 604_800_000 }),
        600_000,
        'How long a turn waits for a person.',
      ),
    }),
    {},
    'Turns that wait for a person.',
  ),
  bindings: defaulted(
    closed({
      auto_bind: defaulted(boolean(), true, 'Whether a repository is bound at its first use.'),
      lifetime_days: defaulted(days, 90, 'How long a binding holds.'),
    }),
    {},
    'Bindings of repositories to machines.',
  ),
  clients: defaulted(
    closed({
      version_min: optional(string({ lengthMax: 64 }), 'The oldest local proxy that may connect.'),
      version_latest: optional(
        string({ lengthMax: 64 }),
        'The version that older proxies are told of.',
      ),
    }),
    {},
    'Versions of the local proxy.',
  ),
});

export type PoolsFile = Infer<typeof POOLS_FILE>;
export type PricingFile = Infer<typeof PRICING_FILE>;
type OwnPrices = Infer<typeof OWN_PRICES>;
export type ModelPrice = OwnPrices['prices'][number];
export type BudgetsFile = Infer<typeof BUDGETS_FILE>;
export type WebhooksFile = Infer<typeof WEBHOOKS_FILE>;
export type UsersFile = Infer<typeof USERS_FILE>;
export type TeamsFile = Infer<typeof TEAMS_FILE>;
export type ReposFile = Infer<typeof REPOS_FILE>;
export type GatewayFile = Infer<typeof GATEWAY_FILE>;

/** How one file is read. */
export interface ConfigFileForm<T> {
  readonly shape: ObjectShape;
  readonly parse: (value: unknown) => Parsed<T>;
}

function form<T>(shape: ObjectShape): ConfigFileForm<T> {
  return { shape, parse: parserFor<T>(shape) };
}

/** The prices in the configuration of a home. */
export const MODEL_PRICES = form<OwnPrices>(OWN_PRICES);

export const GATEWAY_CONFIG_FILES = {
  gateway: form<GatewayFile>(GATEWAY_FILE),
  pools: form<PoolsFile>(POOLS_FILE),
  budgets: form<BudgetsFile>(BUDGETS_FILE),
  pricing: form<PricingFile>(PRICING_FILE),
  webhooks: form<WebhooksFile>(WEBHOOKS_FILE),
  users: form<UsersFile>(USERS_FILE),
  teams: form<TeamsFile>(TEAMS_FILE),
  repos: form<ReposFile>(REPOS_FILE),
} as const;
