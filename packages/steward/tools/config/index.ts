// The agent's own configuration: it may propose a change of it, and only the user can merge that.
import { closed, optional, required, string } from '@subluminal/contracts/shape';
import { errorAnswer, type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import { FILE_BYTES_MAX } from '../../config/index.ts';
import { type ConfigProposals, proposalAnswer } from '../../proposals/index.ts';

export interface ConfigServerOptions {
  readonly proposals: ConfigProposals;
  /** The run that proposes. */
  readonly runId: () => string;
}

const PROPOSE = closed({
  path: required(
    string({ lengthMax: 256 }),
    'permissions.yaml, integrations.yaml, guardrails.yaml, identity.md, or a file in mcp-manifests/.',
  ),
  text: optional(
    string({ lengthMin: 0, lengthMax: FILE_BYTES_MAX }),
    'The whole new text of the file; leave it out to remove the file.',
  ),
  why: required(string({ lengthMax: 1_024 }), 'What the change is for, for the user.'),
});

/** Skills, servers and tools are proposed through tools of their own, which look at them first. */
const HERE = /^(?!skills\/|tools\/)/;

export function configServer({ proposals, runId }: ConfigServerOptions): OwnServer {
  return {
    name: 'config',
    tools: [
      ownTool({
        name: 'propose',
        description:
          'Propose a change of your own configuration. Nothing changes until the user has merged it.',
        input: PROPOSE,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
        call: async ({ path, text, why }, { key }) => {
          if (!HERE.test(path)) {
            return errorAnswer('Use skills.propose or toolsmith.propose for this.');
          }
          const files = [{ path, text }];
          return proposalAnswer(await proposals.propose({ key, runId: runId(), why, files }));
        },
      }),
    ],
  };
}
