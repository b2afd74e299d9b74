import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readDocument } from '../../../../src/domain/workflow/document.ts'
import { exposureFindings } from '../../../../src/domain/workflow/exposure-findings.ts'
import { exposureIn } from '../../../../src/domain/workflow/mcp-exposure.ts'
import { toolNameOf } from '../../../../src/domain/workflow/tool-name.ts'
import { block, document } from '../../../support/make.ts'

const read = (mcp: unknown) => readDocument({ name: 'A', blocks: {}, edges: [], mcp })

describe('the exposure of a workflow as a tool', () => {
  test('is a part of the document, and a member that is null counts as absent', () => {
    const reading = read({ expose: true, name: 'find', description: null })
    expect(reading).toMatchObject({ document: { mcp: { expose: true, name: 'find' } }, warnings: [] })
  })

  test('is refused with a name that clients do not accept', () => {
    expect(read({ expose: true, name: 'find an order' })).toEqual({
      details: [
        {
          path: 'mcp.name',
          message: 'mcp.name must be 1 to 64 letters, digits, "-" and "_", not the text "find an order".',
        },
      ],
    })
  })

  test('counts only when it says so', () => {
    expect(exposureIn({ mcp: { expose: false } })).toBeUndefined()
    expect(exposureIn({ mcp: 'yes' })).toBeUndefined()
    expect(exposureIn({})).toBeUndefined()
  })

  test('gets a warning without an enabled API trigger', () => {
    const codes = (mcp: { expose: boolean } | undefined, type: string, enabled = true) => {
      const made = document({ blocks: [{ ...block('start', type), enabled }], edges: [] })
      return exposureFindings({ ...made, ...(mcp && { mcp }) }).map(({ code, path }) => `${code} ${path}`)
    }
    expect(codes({ expose: true }, 'chat_trigger')).toEqual(['TOOL_WITHOUT_TRIGGER mcp.expose'])
    expect(codes({ expose: true }, 'api_trigger', false)).toEqual(['TOOL_WITHOUT_TRIGGER mcp.expose'])
    expect(codes({ expose: true }, 'api_trigger')).toEqual([])
    expect([codes({ expose: false }, 'chat_trigger'), codes(undefined, 'chat_trigger')]).toEqual([[], []])
  })

  test('makes a valid name of every name of a workflow', () => {
    expect(toolNameOf('Café: find an Order (2)')).toBe('cafe_find_an_order_2')
    expect(toolNameOf('注文')).toBe('workflow')
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (name) => /^[a-z0-9_]{1,64}$/.test(toolNameOf(name))))
  })
})
