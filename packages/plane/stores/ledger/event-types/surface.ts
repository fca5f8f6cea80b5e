import { bad, calm, type EventMember } from './types.ts';

const SURFACE_WORDS = {
  tool_hidden: 'is hidden',
  tool_changed: 'has changed',
  tool_added: 'is new',
  tool_removed: 'is gone',
  schema_rewritten: 'is shown with another schema',
  instructions_changed: 'has other instructions',
  definition_suspicious: 'has a suspicious definition',
  look_alike: 'looks like another tool',
  server_state: 'has changed its state',
} as const;
/** Changes that are expected; somebody may have to look after all others. */
const USUAL: ReadonlySet<string> = new Set([
  'tool_hidden',
  'tool_added',
  'tool_removed',
  'schema_rewritten',
]);

export const surface: EventMember<'surface'> = {
  names: ({ surface: { server_name } }) => ({ server_name }),
  notice(event) {
    const { what, enforced, server_name, name, detail } = event.surface;
    const whose = name === undefined ? server_name : `${server_name}/${name}`;
    const effect = enforced ? '' : ' (told only)';
    const text = `${whose} ${SURFACE_WORDS[what]}${effect}: ${detail}`;
    return USUAL.has(what) ? calm('·', text) : bad('!', text);
  },
};
