// Small enough to read in one go.
import { functionsOf } from '../functions.ts';
import { LIMITS, WIDE_FUNCTIONS } from '../layout.ts';
import type { Finding, Source } from '../source.ts';

const MEASURED = /^(?:packages|tools)\//;

export function size(source: Source): readonly Finding[] {
  if (!source.isCode || !MEASURED.test(source.path)) return [];
  return [...fileSize(source), ...functionSizes(source)];
}

function fileSize({ path, text, isTest }: Source): readonly Finding[] {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const linesMax = isTest ? LIMITS.testFileLinesMax : LIMITS.fileLinesMax;
  if (lines <= linesMax) return [];
  const message = `the file has ${lines} lines, the limit is ${linesMax}`;
  return [{ path, line: linesMax + 1, rule: 'size', message }];
}

/** Callbacks take what their caller gives, so only named functions answer for parameters. */
function functionSizes(source: Source): readonly Finding[] {
  const { path, isTest } = source;
  return functionsOf(source).flatMap(({ name, line, lines, parameters }) => {
    const shown = name === '' ? 'a function' : name;
    const messages: string[] = [];
    if (lines > LIMITS.functionLinesMax && !isTest) {
      messages.push(`${shown} has ${lines} lines, the limit is ${LIMITS.functionLinesMax}`);
    }
    const wide = name === '' || WIDE_FUNCTIONS.has(`${path} ${name}`);
    if (parameters > LIMITS.parametersMax && !wide) {
      messages.push(
        `${shown} takes ${parameters} parameters; beyond ${LIMITS.parametersMax}, an object`,
      );
    }
    return messages.map((message) => ({ path, line, rule: 'size', message }));
  });
}
