// Procedures that the agent follows: it reads those that the user has approved, and proposes others.
import { closed, required, string } from '@subluminal/contracts/shape';
import { type OwnServer, type OwnTool, ownTool } from '@subluminal/plane/agent-run';
import {
  DESCRIPTION_LENGTH_MAX,
  readSkill,
  SKILL_BYTES_MAX,
  type SkillLibrary,
  skillFindings,
  skillText,
} from '../../expansion/index.ts';
import { type ConfigProposals, proposalAnswer } from '../../proposals/index.ts';

export interface SkillsServerOptions {
  readonly library: SkillLibrary;
  readonly proposals: ConfigProposals;
  /** The run that proposes. */
  readonly runId: () => string;
  /** Whether it may propose skills at all: `expansion.skills` of guardrails.yaml. */
  readonly mayPropose: boolean;
}

const name = string({ lengthMax: 64 });
const READ = closed({ name: required(name, 'The name of the skill.') });
const PROPOSE = closed({
  name: required(name, 'Small letters, digits and hyphens.'),
  description: required(
    string({ lengthMax: DESCRIPTION_LENGTH_MAX }),
    'What it is for and when to use it, in words that a request would have.',
  ),
  body: required(string({ lengthMax: SKILL_BYTES_MAX }), 'The procedure, as Markdown.'),
  why: required(string({ lengthMax: 1_024 }), 'What it is good for, for the user.'),
});

export function skillsServer(options: SkillsServerOptions): OwnServer {
  const { library, mayPropose } = options;
  return {
    name: 'skills',
    instructions: 'Procedures that the user has approved. They give no rights.',
    tools: [listTool(library), readTool(library), ...(mayPropose ? [proposeTool(options)] : [])],
  };
}

function listTool(library: SkillLibrary): OwnTool {
  return ownTool({
    name: 'list',
    description: 'List the skills.',
    input: closed({}),
    annotations: { readOnlyHint: true },
    call: () => {
      const lines = library.list().skills.map((one) => `- ${one.name}: ${one.description}`);
      return Promise.resolve({ text: lines.join('\n') || 'There is no skill yet.' });
    },
  });
}

function readTool(library: SkillLibrary): OwnTool {
  return ownTool({
    name: 'read',
    description: 'Read a skill.',
    input: READ,
    annotations: { readOnlyHint: true },
    call: (args) => {
      const skill = library.list().skills.find((one) => one.name === args.name);
      return Promise.resolve(
        skill === undefined
          ? { text: 'There is no skill of this name.', isError: true }
          : { text: `${skill.description}\n\n${skill.body}` },
      );
    },
  });
}

function proposeTool({ proposals, runId }: SkillsServerOptions): OwnTool {
  return ownTool({
    name: 'propose',
    description:
      'Propose a new skill, or a new text of one that you wrote: how to do a kind of task. It is used once the user has merged it.',
    input: PROPOSE,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    call: async ({ why, ...draft }, { key }) => {
      const text = skillText(draft);
      const skill = readSkill(text);
      if (typeof skill === 'string') return { text: skill, isError: true };
      const findings = skillFindings(new Map([['SKILL.md', text]]));
      if (findings.some(({ isSecret }) => isSecret)) {
        return { text: 'The skill holds a secret. Leave it out.', isError: true };
      }
      const files = [{ path: `skills/agent-authored/${skill.name}/SKILL.md`, text }];
      return proposalAnswer(await proposals.propose({ key, runId: runId(), why, files }));
    },
  });
}
