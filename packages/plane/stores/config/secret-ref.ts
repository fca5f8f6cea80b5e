// How a secret is referred to: a source and a name, or one URL that says both.

import type { Config } from './settings.ts';
import { isReservedName } from './values.ts';

export type SecretSource = (typeof SOURCES)[number];

type SecretRefRead =
  | { readonly ok: true; readonly source: SecretSource; readonly secretRef: string }
  | {
      readonly ok: false;
      readonly key: 'secret_ref' | 'source';
      readonly message: string;
      readonly fix: string;
    };

interface RefForm {
  readonly source: SecretSource;
  /** What stands behind the scheme, or alone where the source is written beside it. */
  readonly isOne: (ref: string) => boolean;
  readonly wanted: string;
  readonly fix: string;
}

export const SOURCES = ['env', 'file', 'keychain', 'vault'] as const;
const NAME_LENGTH_MAX = 128;
const PATH_LENGTH_MAX = 1_024;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const SECRET_PATH = /^(?:\/|~\/|\$SUB_HOME\/)[^\p{C}]+$/u;
const KEYCHAIN = /^[^\p{C}/]{1,128}\/[^\p{C}]{1,128}$/u;
const HASHICORP = /^[\w.~%-]+(?:\/[\w.~%-]+)+#[^\p{C}#]{1,128}$/u;
const ONE_PASSWORD = /^[^\p{C}/]+(?:\/[^\p{C}/]+){2,3}$/u;
const DOTS = /(?:^|\/)\.{1,2}(?:\/|#|$)/;

const STORE: RefForm = {
  source: 'vault',
  isOne: (ref) => SECRET_NAME.test(ref) && ref.length <= NAME_LENGTH_MAX,
  wanted: 'is no name of a secret',
  fix: 'Write the name that `sub secrets add` was given.',
};

const FORMS: { readonly [scheme: string]: RefForm } = {
  env: {
    source: 'env',
    isOne: (ref) => VARIABLE.test(ref) && ref.length <= NAME_LENGTH_MAX,
    wanted: 'is no name of a variable',
    fix: 'Write the name of the variable that holds the secret.',
  },
  file: {
    source: 'file',
    isOne: (ref) =>
      SECRET_PATH.test(ref)
        ? ref.length <= PATH_LENGTH_MAX
        : SECRET_NAME.test(ref) && ref.length <= NAME_LENGTH_MAX,
    wanted: 'is no name of a secret, and no path',
    fix: 'Write the name of a file in $SUB_HOME/secrets, or a path that begins with `/` or `~/`.',
  },
  keychain: {
    source: 'keychain',
    isOne: (ref) => KEYCHAIN.test(ref),
    wanted: 'is no service and account',
    fix: 'Write `SERVICE/ACCOUNT`.',
  },
  sub: STORE,
  vault: {
    source: 'vault',
    isOne: (ref) => HASHICORP.test(ref) && !DOTS.test(ref) && ref.length <= PATH_LENGTH_MAX,
    wanted: 'is no place in HashiCorp Vault',
    fix: 'Write `vault://MOUNT/PATH#FIELD`.',
  },
  op: {
    source: 'vault',
    isOne: (ref) => ONE_PASSWORD.test(ref) && !DOTS.test(ref) && ref.length <= PATH_LENGTH_MAX,
    wanted: 'is no place in 1Password',
    fix: 'Write `op://VAULT/ITEM/FIELD`.',
  },
};

/** These stay whole: their scheme says which of the stores it is. */
const KEPT_WHOLE = new Set(['vault', 'op']);

/** Undefined as the source: none was written, and the reference must say it. */
export function readSecretRef(ref: unknown, source: SecretSource | undefined): SecretRefRead {
  const text = typeof ref === 'string' ? ref : '';
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(text) ?? [];
  const form = scheme === '' && source !== undefined ? plainForm(source) : formOf(scheme);
  if (form === undefined) {
    const fix = `Write one of ${Object.keys(FORMS).join('://, ')}://, or add \`source\`.`;
    return { ok: false, key: 'secret_ref', message: '`secret_ref` has no known scheme', fix };
  }
  if (source !== undefined && form.source !== source) {
    const message = `\`source\`: \`${source}\` is not what \`secret_ref\` says`;
    return { ok: false, key: 'source', message, fix: 'Leave `source` out.' };
  }
  const name = scheme === '' ? text : rest;
  if (!form.isOne(name)) {
    return {
      ok: false,
      key: 'secret_ref',
      message: `\`secret_ref\` ${form.wanted}`,
      fix: form.fix,
    };
  }
  if (form.source === 'env' && isReservedName(name)) {
    const message = '`secret_ref` is a variable that says how the server runs';
    return { ok: false, key: 'secret_ref', message, fix: 'Name a variable that holds a secret.' };
  }
  return { ok: true, source: form.source, secretRef: KEPT_WHOLE.has(scheme) ? text : name };
}

function formOf(scheme: string): RefForm | undefined {
  return Object.hasOwn(FORMS, scheme) ? FORMS[scheme] : undefined;
}

/** A name without a scheme is one of our own store where the source is `vault`. */
function plainForm(source: SecretSource): RefForm | undefined {
  return source === 'vault' ? STORE : FORMS[source];
}

// Where secrets come from, as the configuration has it.

export interface SecretSettings {
  readonly passphraseFile: Config['secrets.passphrase_file'];
  readonly vault: SecretService;
  readonly connect: SecretService;
}

interface SecretService {
  readonly address: Config['secrets.vault_addr'];
  readonly tokenFile: Config['secrets.vault_token_file'];
}

export function secretSettings(config: Config): SecretSettings {
  return {
    passphraseFile: config['secrets.passphrase_file'],
    vault: {
      address: config['secrets.vault_addr'],
      tokenFile: config['secrets.vault_token_file'],
    },
    connect: {
      address: config['secrets.connect_addr'],
      tokenFile: config['secrets.connect_token_file'],
    },
  };
}
