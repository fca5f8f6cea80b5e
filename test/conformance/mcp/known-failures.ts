// What is not clean because of the suite or of the SDK, in both runs: scenarios that the direct run cannot pass, and checks
// that a run through `sub` need not reach. `npm run conformance` fails when a scenario passes directly: then its line
// goes. A check that fails through `sub` and passes directly is never excused.
import type { KnownFailure } from './judge.ts';

const OTHER_GRANT = 'an extension with another grant, which `sub auth` does not offer';

export const KNOWN_FAILURES: readonly KnownFailure[] = [
  {
    mode: 'server',
    scenario: 'server-sse-polling',
    notReached: [
      'server-sse-priming-event',
      'server-sse-retry-field',
      'server-sse-disconnect-resume',
    ],
    reason:
      '`sub serve` comes back for the rest of the stream itself and answers with JSON: the suite says "not applicable"',
  },
  {
    mode: 'client',
    scenario: 'auth/resource-mismatch',
    notReached: ['authorization-server-metadata'],
    reason: '`sub auth login` refuses the metadata of another resource before it asks further',
  },
  ...[
    'auth/client-credentials-jwt',
    'auth/client-credentials-basic',
    'auth/enterprise-managed-authorization',
    'auth/dpop',
    'auth/dpop-nonce',
    'auth/wif-jwt-bearer',
  ].map((scenario) => ({ mode: 'client' as const, scenario, reason: OTHER_GRANT })),
];
