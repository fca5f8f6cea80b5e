// Where secrets come from, as the configuration has it.
import type { Config } from './settings.ts';

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
