// The structure that the rules hold the tree to, as data.

export interface PackageLayout {
  /** The packages it may import; everything else of the workspace is above it or beside it. */
  readonly below: readonly string[];
  /** The packages of the registry it may import; each one here is a decision. */
  readonly thirdParty: readonly string[];
  /** No clock, no randomness, no I/O. */
  readonly pure: boolean;
}

export const SCOPE = '@subluminal/';

export const PACKAGES: { readonly [name: string]: PackageLayout } = {
  contracts: { below: [], thirdParty: [], pure: true },
  core: {
    below: ['contracts'],
    thirdParty: ['@marcbachmann/cel-js', 're2js', 'yaml'],
    pure: true,
  },
  plane: {
    below: ['contracts', 'core'],
    thirdParty: [
      '@cedar-policy/cedar-wasm',
      '@hono/node-server',
      '@napi-rs/keyring',
      '@photostructure/sqlite',
      '@slack/web-api',
      'hono',
      'smol-toml',
      'uuidv7',
      'ws',
    ],
    pure: false,
  },
  steward: { below: ['contracts', 'core'], thirdParty: [], pure: false },
  web: { below: ['contracts'], thirdParty: [], pure: false },
  cli: {
    below: ['contracts', 'core', 'plane', 'steward'],
    thirdParty: ['commander', 'picocolors'],
    pure: false,
  },
};

export const LIMITS = {
  fileLinesMax: 400,
  testFileLinesMax: 800,
  functionLinesMax: 70,
  parametersMax: 3,
};

// Signatures that the design itself fixes.
export const WIDE_FUNCTIONS = new Set(['packages/core/policy/decide/decide.ts decide']);
