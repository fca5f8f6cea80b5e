// Publishes shapes as JSON Schema, draft 2020-12.
import { FORMATS } from './formats.ts';
import {
  type Condition,
  type JsonObject,
  type JsonValue,
  type ObjectShape,
  RECORD_KEY_LENGTH_MAX,
  type Shape,
} from './shape.ts';

export interface SchemaOptions {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Shapes that get a name of their own and are referred to by it wherever they appear. */
  readonly defs: { readonly [name: string]: Shape };
}

/** The keyword; an object with a literal `then` would look like a promise. */
const THEN = 'then';

type ShapeNames = ReadonlyMap<Shape, string>;

/** The schema of one shape, or with `undefined` a schema that only holds its definitions. */
export function jsonSchema(shape: Shape | undefined, options: SchemaOptions): JsonObject {
  const { id, title, description, defs } = options;
  const names: ShapeNames = new Map(Object.entries(defs).map(([name, def]) => [def, name]));
  const definitions = Object.entries(defs).map(([name, def]): [string, JsonObject] => [
    name,
    schemaOf(def, names),
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    title,
    description,
    ...(shape === undefined ? {} : schemaOf(shape, names)),
    $defs: Object.fromEntries(definitions),
  };
}

/** The schema of one shape as a part of another document. */
export function shapeSchema(shape: Shape): JsonObject {
  return schemaOf(shape, new Map());
}

function refOrSchema(shape: Shape, names: ShapeNames): JsonObject {
  const name = names.get(shape);
  return name === undefined ? schemaOf(shape, names) : { $ref: `#/$defs/${name}` };
}

function schemaOf(shape: Shape, names: ShapeNames): JsonObject {
  switch (shape.kind) {
    case 'object':
      return objectSchema(shape, names);
    case 'array':
      return {
        type: 'array',
        items: refOrSchema(shape.items, names),
        ...(shape.itemsMin > 0 ? { minItems: shape.itemsMin } : {}),
        maxItems: shape.itemsMax,
      };
    case 'record':
      return {
        type: 'object',
        propertyNames: { maxLength: shape.keyLengthMax ?? RECORD_KEY_LENGTH_MAX },
        additionalProperties: refOrSchema(shape.values, names),
      };
    case 'variant': {
      const cases = Object.values(shape.cases).map((each) => refOrSchema(each, names));
      return { type: 'object', required: [shape.tag], oneOf: cases };
    }
    case 'nullable':
      return { anyOf: [refOrSchema(shape.inner, names), { type: 'null' }] };
    case 'either':
      return { anyOf: shape.options.map((option) => refOrSchema(option, names)) };
    default:
      return leafSchema(shape);
  }
}

type LeafShape = Extract<
  Shape,
  { kind: 'string' | 'enum' | 'integer' | 'number' | 'boolean' | 'scalar' | 'json' }
>;

function leafSchema(shape: LeafShape): JsonObject {
  switch (shape.kind) {
    case 'string':
      return {
        type: 'string',
        ...(shape.format === undefined ? {} : { pattern: FORMATS[shape.format].pattern.source }),
        ...(shape.lengthMin > 0 ? { minLength: shape.lengthMin } : {}),
        maxLength: shape.lengthMax,
      };
    case 'enum': {
      const [only = '', ...others]: readonly string[] = shape.values;
      const fixed: Readonly<Record<string, string>> = { const: only };
      return others.length === 0 ? fixed : { type: 'string', enum: shape.values };
    }
    case 'integer':
      return {
        type: 'integer',
        minimum: shape.min ?? Number.MIN_SAFE_INTEGER,
        maximum: shape.max ?? Number.MAX_SAFE_INTEGER,
      };
    case 'number':
      return {
        type: 'number',
        ...(shape.min === undefined ? {} : { minimum: shape.min }),
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'scalar':
      return { type: ['string', 'number', 'boolean'], maxLength: shape.lengthMax };
    case 'json':
      return {};
  }
}

function objectSchema(shape: ObjectShape, names: ShapeNames): JsonObject {
  const fields = Object.entries(shape.fields);
  const properties: [string, JsonValue][] = fields.map(([name, field]) => [
    name,
    {
      description: field.doc,
      ...refOrSchema(field.shape, names),
      ...(field.default === undefined ? {} : { default: field.default }),
    },
  ]);
  const needed = fields
    .filter(([, field]) => field.required && field.default === undefined)
    .map(([name]) => name);
  const conditions = shape.conditions.map(conditionSchema);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(needed.length > 0 ? { required: needed } : {}),
    ...(shape.closed ? { additionalProperties: false } : {}),
    ...(conditions.length > 0 ? { allOf: conditions } : {}),
  };
}

function conditionSchema(condition: Condition): JsonObject {
  const { field, is, needs } = condition;
  const present = needs.map((name): [string, JsonObject] => [name, { not: { type: 'null' } }]);
  return {
    if: { properties: { [field]: { const: is } }, required: [field] },
    [THEN]: { properties: Object.fromEntries(present), required: needs },
  };
}
