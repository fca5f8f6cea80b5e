// The table of programs.
import { DEVELOPMENT_SPECS } from './development.ts';
import { FILE_SPECS } from './files.ts';
import { INTERPRETER_SPECS } from './interpreters.ts';
import { NETWORK_SPECS } from './network.ts';
import { type ProgramSpec, specOf } from './spec.ts';
import { WRAPPER_SPECS } from './wrappers.ts';

const TABLES = [FILE_SPECS, WRAPPER_SPECS, INTERPRETER_SPECS, NETWORK_SPECS, DEVELOPMENT_SPECS];
/** Every operand of a program that is not known may be a file that it reads. */
export const ANY_PROGRAM = specOf({
  operands: ['read'],
  values: {
    '-o --out --output --outfile --out-file --output-file --outdir --out-dir --output-dir':
      'maybe_write',
  },
});

export function programSpec(name: string): ProgramSpec {
  for (const table of TABLES) {
    const spec = table.get(name);
    if (spec !== undefined) return spec;
  }
  const [, family = ''] = /^(python|pypy|perl|ruby|php|lua|node)[\d.]+$/.exec(name) ?? [];
  return INTERPRETER_SPECS.get(family) ?? ANY_PROGRAM;
}
