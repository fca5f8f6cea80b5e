// The turn engine with a governor that allows everything. Usage: engine.ts UPSTREAM_URL
import { providerFor } from '@subluminal/gateway/providers';
import { coreWires, createTurnEngine, type TurnGovernor } from '@subluminal/gateway/turns';
import { openUpstream } from '@subluminal/plane/upstream';
import { serve } from './serve.mjs';

const [upstreamUrl = ''] = process.argv.slice(2);

function governor(): TurnGovernor {
  const provider = providerFor('anthropic');
  const endpoint = {
    id: 'bench',
    provider: provider.name,
    url: upstreamUrl,
    teamKeyRefs: {},
    dataResidency: 'us',
    trustTier: 'vendor',
    supports: new Set<never>(),
    deployments: [],
    concurrencyMax: 1_024,
  } as const;
  const tail = { events: 'event: aicg.usage\ndata: {"cost_cents":1}\n\n', headers: {} };
  return {
    begin: async ({ body }) => ({
      kind: 'send',
      turn: {
        body,
        attempts: [
          {
            attemptNo: 1,
            provider,
            endpoint,
            model: 'claude-of-the-pool',
            credentials: { kind: 'key', key: 'key-of-the-bench' },
            timeoutMs: 30_000,
            release: () => {},
          },
        ],
        headers: { 'x-aicg-decision': 'allow' },
        attemptEnded: () => {},
        end: async () => tail,
      },
    }),
  };
}

const upstream = openUpstream();
const engine = createTurnEngine({ wires: coreWires, upstream, nowMs: Date.now });
const route = {
  wire: 'anthropic_messages',
  kind: 'answer',
  path: '/v1/messages',
  governor: governor(),
} as const;

serve((request, response) => void engine.handle(request, response, route));
