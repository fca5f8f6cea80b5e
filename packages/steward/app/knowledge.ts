// What the model knows beside the conversation: identity.md, the facts that the user has set, and what the memory
// finds.
import type { SkillLibrary } from '../expansion/index.ts';
import type { Knowledge, RecalledRuns } from '../loop/index.ts';
import { type AgentMemory, isFromOutside } from '../memory/index.ts';

interface KnowledgeParts {
  readonly identity: () => string;
  readonly memory: AgentMemory;
  readonly skills: Pick<SkillLibrary, 'matching'>;
  readonly recalled: RecalledRuns;
}

const FOUND_MAX = 12;
const QUERY_LENGTH_MAX = 2_000;

export function knowledge({ identity, memory, skills, recalled }: KnowledgeParts): Knowledge {
  return {
    identity: async () => {
      const facts = (await memory.core()).map(({ key, value }) => `- ${key}: ${value}`);
      return [identity(), ...(facts.length === 0 ? [] : ['What the user has told you:', ...facts])]
        .join('\n')
        .trim();
    },
    skills: async (request) => skills.matching(request),
    recall: async (request, run) => {
      const text = request.slice(0, QUERY_LENGTH_MAX);
      const found = await memory.search({ text, limit: FOUND_MAX });
      const isOutside = found.some(
        ({ entry }) => isFromOutside(entry.provenance) && entry.confirmedMs === null,
      );
      if (found.length > 0) recalled.note(run.id, { isOutside });
      // What came from outside once is as tainted as when it came.
      for (const { entry } of found) {
        if (!isFromOutside(entry.provenance)) continue;
        await run.remember({ server: 'memory', tool: 'search', text: entry.text });
      }
      return found.map(({ marked }) => `- ${marked}`).join('\n');
    },
  };
}
