// Which parameters a manifest blocks, strips and limits, compiled.
import { definedFields } from '@subluminal/contracts';
import type { Path } from '../../source/problem.ts';
import { quote } from '../../text/visible.ts';
import { blockedPattern, type ParamPattern, pathPattern } from '../names/param-paths.ts';
import { type Building, nameAt } from './build.ts';
import type { Constraint } from './shape.ts';
import type { CompiledRewrite, Constrained, FullDocument, ParamLimit } from './types.ts';

export function blockedOf(building: Building, document: FullDocument): readonly ParamPattern[] {
  return document.blocked_params.flatMap(({ pattern }, index) =>
    patternAt(building, blockedPattern(pattern), [['blocked_params', index, 'pattern'], pattern]),
  );
}

export function rewritesOf(building: Building, document: FullDocument): readonly CompiledRewrite[] {
  return Object.entries(document.schema_rewrites).map(([tool, fields]) => {
    const path = ['schema_rewrites', tool];
    const strips = (fields.strip_params ?? []).flatMap((param, index) =>
      patternAt(building, pathPattern(param), [[...path, 'strip_params', index], param]),
    );
    const constrained = Object.entries(fields.constrain_params ?? {}).flatMap(
      ([param, constraint]): Constrained[] => {
        const at = [...path, 'constrain_params', param];
        const limit = limitOf(building, constraint, at);
        return patternAt(building, pathPattern(param), [at, param]).map((pattern) => {
          return { pattern, limit };
        });
      },
    );
    return { test: nameAt(building, tool, path).test, strips, constrained };
  });
}

function patternAt(
  building: Building,
  result: ReturnType<typeof pathPattern>,
  [path, written]: readonly [Path, string],
): ParamPattern[] {
  if ('test' in result) return [result];
  const message = `${quote(written)} is no pattern of parameters: ${result.message}`;
  building.wrong(path, message, 'Write a name, or a path like `message.to` or `*.bcc`.');
  return [];
}

function limitOf(building: Building, fields: Constraint, path: Path): ParamLimit {
  const { maximum, minimum, max_length, min_length, pattern } = fields;
  if (Object.keys(fields).length === 0) {
    building.wrong(path, 'the parameter has no limit', 'Add one, like `maximum: 50`.');
  }
  if ((minimum ?? Number.NEGATIVE_INFINITY) > (maximum ?? Number.POSITIVE_INFINITY)) {
    const message = '`minimum` is larger than `maximum`, so nothing passes';
    building.conflict([...path, 'minimum'], message, 'Correct one of the two.');
  }
  if ((min_length ?? 0) > (max_length ?? Number.POSITIVE_INFINITY)) {
    const message = '`min_length` is larger than `max_length`, so nothing passes';
    building.conflict([...path, 'min_length'], message, 'Correct one of the two.');
  }
  const isNumeric = maximum !== undefined || minimum !== undefined;
  const isTextual = [max_length, min_length, pattern, fields.max_recipients].some(
    (part) => part !== undefined,
  );
  if (isNumeric && isTextual) {
    const message = 'these limits are for a number and for a text at once';
    building.conflict(path, message, 'Keep those that fit the parameter.');
  }
  return definedFields({
    maximum,
    minimum,
    lengthMax: max_length,
    lengthMin: min_length,
    itemsMax: fields.max_items,
    recipientsMax: fields.max_recipients,
    bytesMax: fields.max_size_bytes,
    values: fields.enum,
    pattern: pattern === undefined ? undefined : expressionOf(building, pattern, path),
  });
}

function expressionOf(building: Building, source: string, path: Path): ParamLimit['pattern'] {
  if (building.regex === undefined) throw new Error('an expression came without its engine');
  const compiled = building.regex(source);
  if (compiled.ok) return { source, test: compiled.test };
  const message = `${quote(source)} is no expression: ${compiled.message}`;
  building.wrong([...path, 'pattern'], message, 'Write it in RE2 syntax.');
  return undefined;
}
