// Budgets on Postgres: each step is one call of a function, so that no lock waits for the network. Whoever takes
// reservations and counters takes the reservations first, and each in one order: nobody waits in a circle.

const RESERVE = `
-- The batch: [{id, trace_id, tenant_id, user_id, team_id, estimate, now_ms,
--   limits: [{scope, key, period, cap, is_enforced}]}].
-- The answer, for each: {exceeded: the place of a limit or null, states: [[used, reserved], …]}.
CREATE FUNCTION reserve_budgets(batch jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  wish jsonb;
  estimate bigint;
  exceeded_place bigint;
  states_now jsonb;
  answers jsonb := '[]';
BEGIN
  INSERT INTO budget_counter
      (tenant_id, scope, key, period, used_micros, reserved_micros, updated_ms)
    SELECT w->>'tenant_id', l->>'scope', l->>'key', l->>'period', 0, 0,
      max((w->>'now_ms')::bigint)
    FROM jsonb_array_elements(batch) w, jsonb_array_elements(w->'limits') l
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT DO NOTHING;
  PERFORM 1 FROM budget_counter c
    WHERE (c.tenant_id, c.scope, c.key, c.period) IN (
      SELECT w->>'tenant_id', l->>'scope', l->>'key', l->>'period'
      FROM jsonb_array_elements(batch) w, jsonb_array_elements(w->'limits') l)
    ORDER BY c.tenant_id, c.scope, c.key, c.period
    FOR UPDATE;
  FOR wish IN SELECT value FROM jsonb_array_elements(batch) LOOP
    estimate := (wish->>'estimate')::bigint;
    exceeded_place := NULL;
    -- One that is there is asked for again, because the first answer was lost.
    IF NOT EXISTS (SELECT 1 FROM budget_reservation WHERE id = wish->>'id') THEN
      SELECT l.place - 1 INTO exceeded_place
        FROM jsonb_array_elements(wish->'limits') WITH ORDINALITY l(item, place)
        JOIN budget_counter c ON c.tenant_id = wish->>'tenant_id'
          AND c.scope = item->>'scope' AND c.key = item->>'key' AND c.period = item->>'period'
        WHERE (item->>'is_enforced')::boolean
          AND c.used_micros + c.reserved_micros + estimate > (item->>'cap')::numeric
        ORDER BY l.place LIMIT 1;
      IF exceeded_place IS NULL THEN
        UPDATE budget_counter c
          SET reserved_micros = c.reserved_micros + estimate, updated_ms = (wish->>'now_ms')::bigint
          FROM jsonb_array_elements(wish->'limits') l(item)
          WHERE c.tenant_id = wish->>'tenant_id'
            AND c.scope = item->>'scope' AND c.key = item->>'key' AND c.period = item->>'period';
        INSERT INTO budget_reservation
            (id, trace_id, tenant_id, user_id, team_id, counters, estimated_micros, state, created_ms,
              renewed_ms)
          SELECT wish->>'id', wish->>'trace_id', wish->>'tenant_id', wish->>'user_id',
            wish->>'team_id', COALESCE((
              SELECT jsonb_agg(jsonb_build_array(item->'scope', item->'key', item->'period'))
              FROM jsonb_array_elements(wish->'limits') l(item)), '[]'),
            estimate, 'reserved', (wish->>'now_ms')::bigint, (wish->>'now_ms')::bigint;
      END IF;
    END IF;
    SELECT COALESCE(jsonb_agg(jsonb_build_array(c.used_micros, c.reserved_micros) ORDER BY l.place), '[]')
      INTO states_now
      FROM jsonb_array_elements(wish->'limits') WITH ORDINALITY l(item, place)
      JOIN budget_counter c ON c.tenant_id = wish->>'tenant_id'
        AND c.scope = item->>'scope' AND c.key = item->>'key' AND c.period = item->>'period';
    answers := answers ||
      jsonb_build_array(jsonb_build_object('exceeded', exceeded_place, 'states', states_now));
  END LOOP;
  RETURN answers;
END $$;
`;

const SETTLE = `
-- The batch: [{id, kind: commit, release or expire, actual}], each id once. A reservation is settled once; one that
-- expired still takes what was used.
CREATE FUNCTION settle_budgets(batch jsonb, at_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moves jsonb;
BEGIN
  PERFORM 1 FROM budget_reservation
    WHERE id IN (SELECT value->>'id' FROM jsonb_array_elements(batch))
    ORDER BY id FOR UPDATE;
  SELECT COALESCE(jsonb_agg(m ORDER BY m.tenant_id, m.scope, m.key, m.period), '[]') INTO moves
    FROM (
      SELECT r.tenant_id, c->>0 AS scope, c->>1 AS key, c->>2 AS period,
        sum(CASE WHEN r.state = 'reserved' THEN r.estimated_micros ELSE 0 END) AS held,
        sum(COALESCE(s.actual, 0)) AS used
      FROM jsonb_to_recordset(batch) s(id text, kind text, actual bigint)
      JOIN budget_reservation r ON r.id = s.id
      CROSS JOIN jsonb_array_elements(r.counters) c
      WHERE r.state = 'reserved' OR (r.state = 'expired' AND s.kind = 'commit')
      GROUP BY 1, 2, 3, 4) m;
  -- A counter that retention took comes back: what is used must be seen.
  INSERT INTO budget_counter
      (tenant_id, scope, key, period, used_micros, reserved_micros, updated_ms)
    SELECT m.tenant_id, m.scope, m.key, m.period, 0, m.held, at_ms
    FROM jsonb_to_recordset(moves)
      m(tenant_id text, scope text, key text, period text, held bigint)
    ORDER BY 1, 2, 3, 4
    ON CONFLICT DO NOTHING;
  PERFORM 1 FROM budget_counter c
    WHERE (c.tenant_id, c.scope, c.key, c.period) IN (
      SELECT m.tenant_id, m.scope, m.key, m.period
      FROM jsonb_to_recordset(moves) m(tenant_id text, scope text, key text, period text))
    ORDER BY c.tenant_id, c.scope, c.key, c.period
    FOR UPDATE;
  UPDATE budget_counter c
    SET reserved_micros = c.reserved_micros - m.held,
      used_micros = c.used_micros + m.used,
      updated_ms = at_ms
    FROM jsonb_to_recordset(moves)
      m(tenant_id text, scope text, key text, period text, held bigint, used bigint)
    WHERE c.tenant_id = m.tenant_id AND c.scope = m.scope AND c.key = m.key AND c.period = m.period;
  UPDATE budget_reservation r
    SET state = CASE s.kind WHEN 'commit' THEN 'committed' WHEN 'release' THEN 'released'
        ELSE 'expired' END,
      actual_micros = s.actual,
      settled_ms = at_ms
    FROM jsonb_to_recordset(batch) s(id text, kind text, actual bigint)
    WHERE r.id = s.id
      AND (r.state = 'reserved' OR (r.state = 'expired' AND s.kind = 'commit'));
END $$;
`;

const EXPIRE = `
-- Those that another gateway is just settling are left to it.
CREATE FUNCTION expire_budgets(older_than_ms bigint, at_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  expired jsonb;
BEGIN
  SELECT COALESCE(jsonb_agg(r), '[]') INTO expired FROM (
    SELECT id, trace_id, tenant_id, user_id, team_id, estimated_micros, 'expire' AS kind
    FROM budget_reservation
    WHERE state = 'reserved' AND renewed_ms < older_than_ms
    ORDER BY id FOR UPDATE SKIP LOCKED) r;
  PERFORM settle_budgets(expired, at_ms);
  RETURN expired;
END $$;
`;

export const BUDGET_FUNCTIONS = RESERVE + SETTLE + EXPIRE;
