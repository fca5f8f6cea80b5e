// The configuration of `sub serve`, as people write it.
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
import { SERVE_AUTH } from './auth-section.ts';

const url = string({ lengthMax: 2_048 });
const path = string({ lengthMax: 4_096 });
const text = string({ lengthMax: 8_192 });
const variable = string({ lengthMax: 256 });
const hosts = array(string({ lengthMax: 256 }), { itemsMax: 100 });
const words = array(string({ lengthMax: 32_768 }), { itemsMin: 1, itemsMax: 1_000 });
const seconds = (max: number) => integer({ min: 1, max });

/** By `url`, or by `command`. */
const SERVER = closed({
  url: optional(url, 'Its address, for a server that is reached by HTTP.'),
  transport: optional(
    oneOf('auto', 'http', 'sse'),
    'How the address is spoken to; auto without it.',
  ),
  headers: optional(record(text), 'Headers of each request to it; no secrets.'),
  header_env: optional(record(variable), 'Headers whose values are in variables, by header.'),
  bearer_env: optional(variable, 'The variable with its bearer token.'),
  pass_token: optional(boolean(), 'The token of the caller goes on to it.'),
  login: optional(
    oneOf('shared', 'caller'),
    'Whose login (`sub auth login`) it gets: that of this home, or of each caller; shared without it.',
  ),
  command: optional(words, 'Its command and arguments, for a server on stdio.'),
  env: optional(record(text), 'Variables for its process; no secrets.'),
  cwd: optional(path, 'The folder that it is started in; that of this file without it.'),
});

const LIMITS = closed({
  sessions: defaulted(integer({ min: 1, max: 100_000 }), 2_000, 'Open sessions at most.'),
  sessions_per_principal: defaulted(
    integer({ min: 1, max: 100_000 }),
    200,
    'Open sessions of one caller at most.',
  ),
  session_idle_s: defaulted(seconds(604_800), 1_800, 'A session that is silent for so long ends.'),
  run_idle_s: defaulted(seconds(604_800), 300, 'A run without a session ends after so long.'),
  connections: defaulted(integer({ min: 1, max: 100_000 }), 4_096, 'Connections at most.'),
  requests_per_session: defaulted(
    integer({ min: 1, max: 10_000 }),
    256,
    'Requests of one session that wait for their answers at most.',
  ),
  drain_s: defaulted(seconds(3_600), 10, 'How long open calls may take when it ends.'),
});

export const SERVE_FILE = closed({
  version: defaulted(integer({ min: 1, max: 1 }), 1, 'The version of this form: 1.'),
  listen: defaulted(string({ lengthMax: 256 }), '127.0.0.1:7800', 'HOST:PORT to listen on.'),
  public_url: optional(url, 'The address that clients use, where it is another one.'),
  tls: optional(
    closed({
      cert: required(path, 'The certificate and those above it, in PEM.'),
      key: required(path, 'Its private key, in PEM.'),
    }),
    'Speaks TLS itself.',
  ),
  auth: required(SERVE_AUTH, 'Who may call.'),
  allowed_hosts: defaulted(hosts, [], 'More values of `Host` that are accepted.'),
  allowed_origins: defaulted(hosts, [], 'Origins of web pages that may call.'),
  servers: required(record(SERVER), 'The servers, by the name in `/mcp/NAME`.'),
  limits: defaulted(LIMITS, {}, 'Bounds.'),
});

export type ServeFile = Infer<typeof SERVE_FILE>;
export type ServeFileServer = Infer<typeof SERVER>;
