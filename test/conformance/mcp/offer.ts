// What both fixture servers offer, under the names that the scenarios of the suite ask for.
import type { ContentBlock, PromptMessage } from '@modelcontextprotocol/server';

/** Between two reports of progress: the SDK drops those that come in one piece with the answer. */
export const STEP_MS = 20;

export const SERVER_INFO = { name: 'conformance-fixture', version: '1.0.0' };

export const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const AUDIO = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

export function text(value: string): { type: 'text'; text: string } {
  return { type: 'text', text: value };
}

const image: ContentBlock = { type: 'image', data: IMAGE, mimeType: 'image/png' };

function embedded(uri: string, mimeType: string, value: string): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType, text: value } };
}

interface ContentTool {
  readonly description: string;
  readonly content: ContentBlock[];
}

/** Tools without arguments that always answer the same. */
export const CONTENT_TOOLS: Readonly<Record<string, ContentTool>> = {
  test_simple_text: {
    description: 'Answers with text',
    content: [text('This is a simple text response for testing.')],
  },
  test_image_content: { description: 'Answers with an image', content: [image] },
  test_audio_content: {
    description: 'Answers with audio',
    content: [{ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }],
  },
  test_embedded_resource: {
    description: 'Answers with an embedded resource',
    content: [
      embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ],
  },
  test_multiple_content_types: {
    description: 'Answers with text, an image and a resource',
    content: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
};

/** Keywords of JSON Schema 2020-12 that must reach the client as they are. */
export const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // As text: in place, the linters take it for a promise.
  ...(JSON.parse('{"then":{"required":["phone"]}}') as object),
  else: { required: ['email'] },
  additionalProperties: false,
};

interface OfferedResource {
  readonly name: string;
  readonly mimeType: string;
  readonly contents: { readonly text: string } | { readonly blob: string };
}

export const RESOURCES: Readonly<Record<string, OfferedResource>> = {
  'test://static-text': {
    name: 'static-text',
    mimeType: 'text/plain',
    contents: { text: 'This is the content of the static text resource.' },
  },
  'test://static-binary': {
    name: 'static-binary',
    mimeType: 'image/png',
    contents: { blob: IMAGE },
  },
  'test://watched-resource': {
    name: 'watched-resource',
    mimeType: 'text/plain',
    contents: { text: 'Watched resource content' },
  },
};

export const TEMPLATE = {
  name: 'template',
  uriTemplate: 'test://template/{id}/data',
  mimeType: 'application/json',
};

/** Templates come in two pages. */
export function templatePage(cursor: string | undefined) {
  if (cursor === undefined) return { resourceTemplates: [TEMPLATE], nextCursor: 'page "2" é' };
  const last = { ...TEMPLATE, name: 'other', uriTemplate: 'test://other/{id}' };
  return cursor === 'page "2" é' ? { resourceTemplates: [last] } : undefined;
}

export function templateText(id: string): string {
  return JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
}

interface OfferedPrompt {
  readonly description: string;
  readonly args: Readonly<Record<string, string>>;
  readonly messages: (args: Readonly<Record<string, string>>) => PromptMessage[];
}

export const PROMPTS: Readonly<Record<string, OfferedPrompt>> = {
  test_simple_prompt: {
    description: 'A prompt without arguments',
    args: {},
    messages: () => [user(text('This is a simple prompt for testing.'))],
  },
  test_prompt_with_arguments: {
    description: 'A prompt with required arguments',
    args: { arg1: 'First test argument', arg2: 'Second test argument' },
    messages: ({ arg1, arg2 }) => [
      user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
    ],
  },
  test_prompt_with_embedded_resource: {
    description: 'A prompt with an embedded resource',
    args: { resourceUri: 'URI of the resource to embed' },
    messages: ({ resourceUri = '' }) => [
      user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
      user(text('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: {
    description: 'A prompt with an image',
    args: {},
    messages: () => [user(image), user(text('Please analyze the image above.'))],
  },
};

export function user(content: ContentBlock): PromptMessage {
  return { role: 'user', content };
}
