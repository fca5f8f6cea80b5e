// The forms that the elicitation scenarios of the suite look at, field by field.
export const ASK_NAME = form('name', 'string');
export const ASK_COLOR = form('color', 'string');
export const ASK_CONTEXT = form('context', 'string');
export const ASK_OK = form('ok', 'boolean');
export const ASK_RESPONSE = form('response', 'string');

function form<Type extends 'string' | 'boolean'>(field: string, type: Type) {
  return { type: 'object' as const, properties: { [field]: { type } }, required: [field] };
}

/** A default for each kind of field. */
export const DEFAULTS = {
  type: 'object' as const,
  properties: {
    name: { type: 'string' as const, description: 'User name', default: 'John Doe' },
    age: { type: 'integer' as const, description: 'User age', default: 30 },
    score: { type: 'number' as const, description: 'User score', default: 95.5 },
    status: {
      type: 'string' as const,
      description: 'User status',
      enum: ['active', 'inactive', 'pending'],
      default: 'active',
    },
    verified: { type: 'boolean' as const, description: 'Verification status', default: true },
  },
  required: [],
};

/** Each way to write a choice. */
export const ENUMS = {
  type: 'object' as const,
  properties: {
    untitledSingle: { type: 'string' as const, enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string' as const, oneOf: titled('Option') },
    legacyEnum: {
      type: 'string' as const,
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array' as const,
      minItems: 1,
      maxItems: 3,
      items: { type: 'string' as const, enum: ['option1', 'option2', 'option3'] },
    },
    titledMulti: {
      type: 'array' as const,
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titled('Choice') },
    },
  },
  required: [],
};

function titled(noun: string): { const: string; title: string }[] {
  return ['First', 'Second', 'Third'].map((ordinal, index) => ({
    const: `value${index + 1}`,
    title: `${ordinal} ${noun}`,
  }));
}
