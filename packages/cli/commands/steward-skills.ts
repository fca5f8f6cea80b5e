// `sub steward skills`: skills that somebody else has written.
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { attempt } from '@subluminal/plane/os';
import { badUsage, defineCommand, printout } from '../input/command.ts';
import { changeHead } from '../steward/change-text.ts';
import { stewardAnswer } from '../steward/steward-home.ts';
import { harmlessLine } from '../terminal/text.ts';

export const skills = defineCommand({
  description:
    'Proposes a skill that somebody else has written: `add FOLDER` reads a folder with a SKILL.md, looks for orders against you, hidden text, secrets, and what its commands would reach, and keeps it apart as a proposal with what was found. Nothing of it is used before you approve it (`sub steward review`), and no skill gives a right.',
  args: {
    action: 'add',
    folder: 'The folder with the SKILL.md; unpack an archive first',
  },
  examples: ['sub steward skills add ./insurance-claims'],
  exitCodes: {
    0: 'it is proposed',
    2: 'wrong flags, no skill that can be taken, or Steward does not run',
  },
  requires: 'person',
  run: async ({ args: { action, folder: place } }) => {
    if (action !== 'add') return badUsage(`\`${action}\` is no action.`, 'It is `add`.');
    const folder = resolve(place);
    const isFile = attempt(() => statSync(folder))?.isFile() ?? false;
    if (isFile && basename(folder) !== 'SKILL.md')
      return badUsage(
        `\`${place}\` is a file.`,
        'Name a folder with a SKILL.md. An archive is unpacked first: `unzip FILE -d FOLDER` or `tar -xf FILE -C FOLDER`.',
      );
    const view = await stewardAnswer('expansion/add-skill', { folder });
    if (isFailure(view)) return view;
    const { id } = view.change;
    const next = `Nothing of it is used yet. See all of it: \`sub steward review show ${id}\`.`;
    return printout(view, `${changeHead(view)}${harmlessLine(next)}`);
  },
});
