import { failure } from '@subluminal/contracts';
import { type CompletionInput, SHELLS } from '../catalog/about.ts';
import { CATALOG } from '../catalog.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { type Place, placesOf } from '../completion/places.ts';
import { zshScript } from '../completion/zsh.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { guessed } from '../input/guess.ts';
import type { Io } from '../terminal/io.ts';

type Shell = (typeof SHELLS)[number];

const SCRIPTS: { readonly [S in Shell]: (places: readonly Place[]) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export async function run({ args }: CompletionInput, io: Io): Promise<Outcome> {
  const shell = SHELLS.find((name) => name === args.shell);
  if (shell === undefined) {
    const guess = guessed(args.shell, SHELLS);
    const fix =
      guess === undefined ? `Name one of ${SHELLS.join(', ')}.` : `Did you mean ${guess}?`;
    return failure('SUB_USAGE', `\`${args.shell}\` is no shell that is known here.`, fix);
  }
  io.out.write(SCRIPTS[shell](placesOf(CATALOG)));
  return done(EXIT.fine);
}
