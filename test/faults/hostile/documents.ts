const blocksMax = 1_990

/** Documents within the limits on bytes, values, blocks and edges that take long to check, as JSON texts. */
export function worstDocuments(): Record<string, string> {
  const functions = (count: number, code: (n: number) => string) =>
    list(count, (n) => ({ id: `b${n}`, type: 'function', params: { code: code(n) } }))
  const references = (n: number) => list(15, (at) => `<b${(n + at) % blocksMax}.x${at}>`).join()
  const edges = list(10_000, (n) => ({ source: `b${n % blocksMax}`, target: `b${(n * 7 + 1) % blocksMax}` }))
  const rows = (type: string, params: Record<string, unknown>) => documentOf([{ id: 'a', type, params }])
  const many = (count: number, type: string, params: Record<string, unknown>) =>
    documentOf(list(count, (n) => ({ id: `b${n}`, type, params })))
  const url = 'http://example.com'
  return {
    '2,000 functions with references': documentOf(functions(blocksMax, (n) => `return [${references(n)}]`)),
    '2,000 blocks with 10,000 edges': documentOf(
      functions(blocksMax, () => 'return 1'),
      edges,
    ),
    'functions with 90 kB of code': documentOf(functions(20, () => `return [${'<s.x>,'.repeat(15_000)}]`)),
    'one function with 1.9 MB of code': documentOf(functions(1, () => `return [${'0,'.repeat(950_000)}]`)),
    'code with 90,000 backslashes': documentOf(functions(20, () => `return '${'\\'.repeat(45_000)}x<s.x>'`)),
    'a condition of 1.9 MB': rows('condition', { conditions: [{ id: 'a', expression: `[${'0,'.repeat(950_000)}]` }] }),
    '19,000 conditions': many(190, 'condition', {
      conditions: list(100, (n) => ({ id: `c${n}`, expression: '<s.x>' })),
    }),
    'a text with 380,000 references': rows('api', { url: '<s.b>'.repeat(380_000) }),
    'a text with unknown references': rows('api', { url: list(170_000, (n) => `<q${n}.b>`).join('') }),
    'a JSON text with references': rows('api', { url, method: 'POST', body: `[${'<s.b>,'.repeat(300_000)}0]` }),
    '30,000 secret headers': rows('api', { url, headers: list(30_000, (n) => ({ key: 'api-key', value: `x${n}` })) }),
    'a secret of 1.8 MB of spaces': rows('api', {
      url,
      headers: [{ key: 'authorization', value: `Bearer ${' '.repeat(1_800_000)}\n\n` }],
    }),
    'a password of 190,000 variables': rows('chat_trigger', {
      public: true,
      password: list(190_000, (n) => `{{V${n}}}`).join(''),
    }),
    '90,000 unknown parameters': rows('api', {
      url,
      ...Object.fromEntries(list(90_000, (n) => [`p${n}`, 0])),
    }),
    '13,000 tools': many(130, 'agent', {
      model: 'gpt-4o',
      tools: list(100, (n) => ({ type: 'api', name: `t${n}`, params: { url: '<args.x>' } })),
    }),
  }
}

type WorstBlock = { id: string; type: string; params: Record<string, unknown> }

function documentOf(blocks: readonly WorstBlock[], edges: readonly object[] = []): string {
  const all = [{ id: 's', type: 'api_trigger', params: {} }, ...blocks]
  const members = all.map((block) => [block.id, { ...block, name: block.id }])
  return JSON.stringify({ name: 'worst document', blocks: Object.fromEntries(members), edges })
}

function list<Item>(length: number, item: (n: number) => Item): Item[] {
  return Array.from({ length }, (_, n) => item(n))
}
