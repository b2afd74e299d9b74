/**
 * Bun limits the `fetch` calls that a process has in flight. Without this variable, the limit is 256, and further calls
 * wait without notice until another one ends. A few hundred receivers that hang would then delay every other request,
 * even if the bulkheads allow more. Bun reads the variable only when the process starts. To raise the limit, the
 * program therefore sets it and executes itself again.
 */
export const fetchCapVariable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/** The highest value that Bun accepts. In practice, the bulkheads limit the requests in flight. */
export const fetchCap = '65535'
