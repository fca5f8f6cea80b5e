// How a secret is referred to: a source and a name, or one URL that says both.

import { type Failure, failure } from '@subluminal/contracts';
import type { Config } from './settings.ts';
import { isReservedName } from './values.ts';

export type SecretSource = (typeof SOURCES)[number];

export interface SecretRef {
  readonly kind: 'ref';
  readonly source: SecretSource;
  readonly secretRef: string;
}

/** What is wrong with a reference, as a clause about the key. */
interface SecretRefFailure extends Failure {
  readonly key: 'secret_ref' | 'source';
}

interface RefForm {
  readonly source: SecretSource;
  /** What stands behind the scheme, or alone where the source is written beside it. */
  readonly isOne: (ref: string) => boolean;
  readonly message: string;
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
  message: '`secret_ref` is no name of a secret',
  fix: 'Write the name that `sub secrets add` was given.',
};

const FORMS: { readonly [scheme: string]: RefForm } = {
  env: {
    source: 'env',
    isOne: (ref) => VARIABLE.test(ref) && ref.length <= NAME_LENGTH_MAX,
    message: '`secret_ref` is no name of a variable',
    fix: 'Write the name of the variable that holds the secret.',
  },
  file: {
    source: 'file',
    isOne: (ref) =>
      SECRET_PATH.test(ref)
        ? ref.length <= PATH_LENGTH_MAX
        : SECRET_NAME.test(ref) && ref.length <= NAME_LENGTH_MAX,
    message: '`secret_ref` is no name of a secret, and no path',
    fix: 'Write the name of a file in $SUB_HOME/secrets, or a path that begins with `/` or `~/`.',
  },
  keychain: {
    source: 'keychain',
    isOne: (ref) => KEYCHAIN.test(ref),
    message: '`secret_ref` is no service and account',
    fix: 'Write `SERVICE/ACCOUNT`.',
  },
  sub: STORE,
  vault: {
    source: 'vault',
    isOne: (ref) => HASHICORP.test(ref) && !DOTS.test(ref) && ref.length <= PATH_LENGTH_MAX,
    message: '`secret_ref` is no place in HashiCorp Vault',
    fix: 'Write `vault://MOUNT/PATH#FIELD`.',
  },
  op: {
    source: 'vault',
    isOne: (ref) => ONE_PASSWORD.test(ref) && !DOTS.test(ref) && ref.length <= PATH_LENGTH_MAX,
    message: '`secret_ref` is no place in 1Password',
    fix: 'Write `op://VAULT/ITEM/FIELD`.',
  },
};

/** These stay whole: their scheme says which of the stores it is. */
const KEPT_WHOLE = new Set(['vault', 'op']);

/** Undefined as the source: none was written, and the reference must say it. */
export function readSecretRef(
  ref: unknown,
  source: SecretSource | undefined,
): SecretRef | SecretRefFailure {
  const wrong = (message: string, fix: string, key: SecretRefFailure['key'] = 'secret_ref') => {
    return { ...failure('SUB_CONFIG_VALUE', message, fix), key };
  };
  const text = typeof ref === 'string' ? ref : '';
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(text) ?? [];
  const form = scheme === '' && source !== undefined ? plainForm(source) : formOf(scheme);
  if (form === undefined) {
    const schemes = `${Object.keys(FORMS).join('://, ')}://`;
    const fix = `Write one of ${schemes}, or add \`source\`.`;
    return wrong('`secret_ref` has no known scheme', fix);
  }
  if (source !== undefined && form.source !== source) {
    const message = `\`source\`: \`${source}\` is not what \`secret_ref\` says`;
    return wrong(message, 'Leave `source` out.', 'source');
  }
  const name = scheme === '' ? text : rest;
  if (!form.isOne(name)) return wrong(form.message, form.fix);
  if (form.source === 'env' && isReservedName(name)) {
    const message = '`secret_ref` is a variable that says how the server runs';
    return wrong(message, 'Name a variable that holds a secret.');
  }
  const secretRef = KEPT_WHOLE.has(scheme) ? text : name;
  return { kind: 'ref', source: form.source, secretRef };
}

function formOf(scheme: string): RefForm | undefined {
  return Object.hasOwn(FORMS, scheme) ? FORMS[scheme] : undefined;
}

/** A name without a scheme is one of our own store where the source is `vault`. */
function plainForm(source: SecretSource): RefForm | undefined {
  return source === 'vault' ? STORE : FORMS[source];
}

/** Where secrets come from, as the configuration has it. */
export function secretSettings(config: Config) {
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
