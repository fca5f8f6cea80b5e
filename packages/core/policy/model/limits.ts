/** The largest policy file. A snapshot has every default written out, so it outgrows its bundle. */
export const POLICY_FILE_BYTES_MAX = 8_388_608;
