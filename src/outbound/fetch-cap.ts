/**
 * Bun limits the `fetch` calls that a process has in flight, to 256 unless this variable is set. The next call waits,
 * unseen, for another one to end. So a few hundred receivers that hang would delay every other request, whatever the
 * bulkheads allow. Bun reads the variable only when the process starts: to raise the limit, the program executes itself
 * again.
 */
export const fetchCapVariable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/** The highest value that Bun accepts. The bulkheads are the limits that count. */
export const fetchCap = '65535'
