// Something odd about what a server shows.
import { boolean, oneOf, open, optional, required, string } from '../shape/shape.ts';

const SURFACE_FIELDS = open({
  what: required(
    oneOf(
      'tool_hidden',
      'tool_changed',
      'tool_added',
      'tool_removed',
      'schema_rewritten',
      'instructions_changed',
      'definition_suspicious',
      'look_alike',
      'server_state',
    ),
    'What was noticed.',
  ),
  enforced: required(boolean(), 'Whether something was done about it.'),
  server_name: required(string(), 'The server, as it is configured.'),
  name: optional(string({ lengthMax: 1_024 }), 'The tool, prompt or resource.'),
  reason_code: required(string({ lengthMax: 128 }), 'A stable, enum-like reason.'),
  detail: required(string({ lengthMax: 4_096 }), 'In words; safe to show.'),
  state: optional(
    oneOf('paused', 'answering'),
    'Of `server_state`: whether calls to the server are paused, or pass again.',
  ),
});

export const SURFACE = {
  surface: required(SURFACE_FIELDS, 'Since 0.2.0: what a server shows, and what is odd about it.'),
} as const;
