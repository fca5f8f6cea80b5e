// The skills, servers and tools that the agent has beside those it was built with.
import { visible } from '@subluminal/core/visible';
import type { StewardConfig } from '../config/index.ts';
import { readInstalledTools } from '../sandbox/index.ts';
import { startWords } from './proposal-notes.ts';
import type { ExpansionPart } from './revoke.ts';
import { skillLibrary } from './skills/skill-library.ts';

export interface ExpansionInForce {
  /** With what each is for, or how it is reached. */
  readonly parts: readonly (ExpansionPart & { readonly about: string })[];
  /** What is there and not used, and why. */
  readonly problems: readonly string[];
}

const ABOUT_LENGTH_MAX = 400;

export function expansionInForce(config: StewardConfig): ExpansionInForce {
  const skills = skillLibrary(() => config.skillsFolder).list();
  const installed = readInstalledTools(config.toolsFolder);
  const parts = [
    ...skills.skills.map(
      ({ name, description: about }) => ({ kind: 'skill', name, about }) as const,
    ),
    ...config.servers.map(
      (one) => ({ kind: 'server', name: one.name, about: startWords(one) }) as const,
    ),
    ...installed.tools.map(
      ({ manifest: { name, description: about } }) => ({ kind: 'tool', name, about }) as const,
    ),
  ];
  return {
    parts: parts.map((part) => ({ ...part, about: visible(part.about, ABOUT_LENGTH_MAX) })),
    problems: [...skills.problems, ...installed.problems],
  };
}
