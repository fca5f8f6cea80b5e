// The tables as queries see them: columns have the names of the rows' fields, which `queriesOn` turns into those of
// the schema. Both engines give JSON as its text and integers as numbers.
import type { JsonObject } from '@subluminal/contracts';
import { CamelCasePlugin, type Dialect, type Generated, Kysely, type Selectable } from 'kysely';
import type {
  AuditRow,
  BindingRow,
  BreakerRow,
  CostRow,
  DeliveryRow,
  InviteRow,
  KeyRow,
  RoutingRow,
  TurnApprovalRow,
  UserRow,
  WebhookRow,
} from './types.ts';

/** For what belongs to the installation and not to one of its tenants. */
export const DEFAULT_TENANT = 'default';

/** The number of the routing row that a shadow evaluation leaves: behind those of all attempts. */
export const SHADOW_ATTEMPT = 1_000;

export type StoreQueries = Kysely<StoreTables>;

export function queriesOn(dialect: Dialect): StoreQueries {
  return new Kysely({ dialect, plugins: [new CamelCasePlugin()] });
}

type StoredValue<Value> = Value extends JsonObject | readonly unknown[]
  ? string
  : // SQLite has numbers for flags.
    Value extends boolean
    ? boolean | number
    : Value;
type Cells<Row> = { [Name in keyof Row]: StoredValue<Row[Name]> };
type Numbered = { id: Generated<number> };
type OfTenant = { tenantId: string };

export interface StoreTables {
  readonly gateway_user: UserRow;
  readonly api_key: KeyRow;
  readonly setup_token: OfTenant & { hash: string; createdMs: number };
  readonly setup: OfTenant & { doneMs: number };
  readonly invite: InviteRow & { usedMs: number | null };
  readonly repo_binding: BindingRow;
  /** Both are written and read by statements of the engines. */
  readonly budget_counter: OfTenant;
  readonly budget_reservation: OfTenant;
  readonly audit_event: Cells<AuditRow> &
    Numbered & { eventKey: string; prevHash: string | null; selfHash: string | null };
  readonly audit_retention: OfTenant & { beforeMs: number };
  readonly cost_event: Cells<CostRow> & Numbered;
  readonly routing_event: Cells<RoutingRow> & Numbered;
  readonly raw_record: { traceId: string };
  readonly approval_request: Cells<TurnApprovalRow>;
  readonly webhook: Cells<WebhookRow>;
  readonly webhook_delivery: OfTenant & DeliveryRow;
  readonly breaker: OfTenant & BreakerRow;
}

export type CellsOf<Table extends keyof StoreTables> = Selectable<StoreTables[Table]>;
