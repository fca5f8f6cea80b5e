// Sessions of the page, the same for the ledger daemon and the gateway: who is logged in, and how one logs in and out.
//
// A browser holds a session in two halves. The cookie is sent to every port of a host, so that it alone is worth
// nothing; the page token is kept by the page (`localStorage` is kept apart by port) and goes along as a header that no
// page of another site can set.

import {
  boolean,
  closed,
  type Infer,
  nullable,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { TIME_MS } from './answers.ts';

/** The header that holds the page token. */
export const PAGE_TOKEN_HEADER = 'x-sub-page';
/** Beside `subluminal.v1` among the subprotocols of the stream: `page.TOKEN`. */
export const PAGE_TOKEN_PROTOCOL = 'page.';
/** The page that reads the code of a link from the fragment of its address: `/login#CODE`. */
export const LOGIN_PATH = '/login';

const TOKEN_LENGTH_MAX = 1_024;

/** `viewer` may look, `owner` may do everything. */
export const LEDGER_ROLE = oneOf('viewer', 'owner');
/** The first two are the ledger's, the others the gateway's. */
const SESSION_ROLE = oneOf('viewer', 'owner', 'developer', 'team_admin', 'platform_admin');

export const API_SESSION = open({
  plane: required(oneOf('ledger', 'gateway'), 'Which server this is.'),
  user: required(string(), 'Who is logged in.'),
  role: required(SESSION_ROLE, 'What they may do.'),
  version: required(string(), 'The version of the product.'),
  expires_at_ms: required(nullable(TIME_MS), 'When the session ends; null for one that does not.'),
  has_steward: optional(boolean(), 'Whether Steward is set up; of the ledger.'),
});

/** What the sealed cookie of the ledger holds. */
export const LEDGER_SESSION = closed({
  role: required(LEDGER_ROLE, 'What they may do.'),
  user: required(string(), 'Who logged in.'),
  expires_at_ms: required(TIME_MS, 'When the session ends.'),
});

/** The ledger's: the code of a link. */
export const LOGIN_BODY = closed({
  code: required(string({ lengthMax: TOKEN_LENGTH_MAX }), 'What stands behind # in the link.'),
});

/** The gateway's. */
export const KEY_LOGIN_BODY = closed({
  api_key: required(string({ lengthMax: TOKEN_LENGTH_MAX }), 'A key of the gateway.'),
});

/** The cookie comes along with it. */
export const API_LOGGED_IN = open({
  page_token: required(string(), 'The half of the session that the page keeps.'),
});

export const API_LOGGED_OUT = open({
  logged_out: required(oneOf('yes'), 'That the cookie is cleared.'),
});

export const LOGIN_LINK_BODY = closed({
  role: optional(LEDGER_ROLE, 'What the page may do; `owner`.'),
});

export const API_LOGIN_LINK = open({
  path: required(string(), 'The path of the link, `/login#CODE`; it works once.'),
  expires_at_ms: required(TIME_MS, 'When it ends.'),
});

export type ApiSession = Infer<typeof API_SESSION>;
export type ApiLogin = Infer<typeof LOGIN_BODY>;
export type ApiKeyLogin = Infer<typeof KEY_LOGIN_BODY>;
export type ApiLoggedIn = Infer<typeof API_LOGGED_IN>;
export type ApiLoginLinkWish = Infer<typeof LOGIN_LINK_BODY>;
export type ApiLoginLink = Infer<typeof API_LOGIN_LINK>;
export type LedgerRole = Infer<typeof LEDGER_ROLE>;
