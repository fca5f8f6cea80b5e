// Who may call `sub serve`: the section `auth` of its configuration, and the file of keys that it may name.
import {
  array,
  boolean,
  closed,
  defaulted,
  formatted,
  type Infer,
  optional,
  required,
  string,
} from '../shape/shape.ts';

const name = string({ lengthMax: 128 });
const url = string({ lengthMax: 2_048 });
const names = array(name, { itemsMax: 1_000 });
const claim = string({ lengthMax: 256 });

const KEYS_MAX = 1_000;
const KEY = closed({
  name: required(string({ lengthMax: 64 }), 'Who calls with it.'),
  sha256: required(formatted('sha256'), 'The SHA-256 of the key.'),
  servers: optional(names, 'The servers that it opens; all without it.'),
});
const keys = defaulted(array(KEY, { itemsMax: KEYS_MAX }), [], 'API keys.');

const ACCESS = closed({
  servers: optional(names, 'The servers that it opens; all without it.'),
  scopes: defaulted(array(claim, { itemsMax: 100 }), [], 'Scopes, all of which a token must have.'),
  groups: defaulted(
    array(claim, { itemsMax: 100 }),
    [],
    'Groups, one of which a token must have, unless there are none.',
  ),
});

const ISSUER = closed({
  issuer: required(url, 'The `iss` of its tokens, exactly.'),
  jwks_uri: optional(url, 'Where its keys are; found by its metadata without it.'),
  audiences: optional(
    array(url, { itemsMin: 1, itemsMax: 32 }),
    'What `aud` must name; `PUBLIC_URL/mcp/NAME` without it, so that a token opens one server.',
  ),
  name_claim: optional(claim, 'The claim that names the caller for people.'),
  groups_claim: defaulted(claim, 'groups', 'The claim with the groups of the caller.'),
  access: optional(
    array(ACCESS, { itemsMin: 1, itemsMax: 1_000 }),
    'Which tokens open which servers; without it, each token opens the servers of its audience.',
  ),
});

export const SERVE_AUTH = closed({
  none: defaulted(boolean(), false, 'Any program of this machine may call; on loopback only.'),
  keys,
  keys_file: optional(string({ lengthMax: 4_096 }), 'A file with more `keys`.'),
  jwt: defaulted(array(ISSUER, { itemsMax: 32 }), [], 'Issuers whose tokens open servers.'),
});

/** The file that `keys_file` names. */
export const SERVE_KEYS_FILE = closed({ keys });

export type ServeAuth = Infer<typeof SERVE_AUTH>;
export type ServeKeysFile = Infer<typeof SERVE_KEYS_FILE>;
