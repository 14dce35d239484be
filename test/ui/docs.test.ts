import { describe, expect, test } from 'bun:test'
import { readBlocks, readSpans } from '../../public/pages/docs/markdown.ts'
import { readReference, searchGroups } from '../../public/pages/docs/model.ts'
import type { Obj, Operation } from '../../public/pages/docs/model.ts'
import { curlSample, requestInit, requestPath } from '../../public/pages/docs/request.ts'
import { exampleOf, readShape } from '../../public/pages/docs/schema.ts'

const document: Obj = {
  openapi: '3.1.0',
  info: {
    title: 'Wardpost',
    version: '1',
    description: 'About',
    'x-scopes': [{ scope: 'a:read', description: 'A' }],
  },
  tags: [{ name: 'Domains', description: 'Own domains' }],
  paths: {
    '/v1/domains/{id}': {
      parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }],
      get: {
        tags: ['Domains'],
        summary: 'One domain',
        'x-required-scope': 'domains:read',
        responses: {
          '200': {
            description: 'The domain',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } },
          },
        },
      },
      patch: {
        summary: 'Change',
        requestBody: {
          content: {
            'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } },
            'multipart/form-data': { schema: { type: 'object', properties: { name: { type: 'string' } } } },
          },
        },
        security: [{ bearer: ['domains:write'] }],
        responses: {},
      },
    },
    '/v1/reports/upload': {
      post: {
        requestBody: { content: { 'multipart/form-data': { schema: { type: 'object' } } } },
        responses: { '201': { $ref: '#/components/responses/Gone' } },
      },
    },
  },
  components: {
    responses: { Gone: { description: 'Kept' } },
    schemas: {
      Node: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: ['string', 'null'], maxLength: 20 },
          size: {
            anyOf: [
              { type: 'string', format: 'numeric' },
              { type: 'integer', minimum: 1, maximum: 500 },
            ],
          },
          state: {
            anyOf: [{ const: 'on', type: 'string' }, { const: 'off', type: 'string' }, { type: 'null' }],
          },
          children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
          any: { oneOf: [{ type: 'object', properties: { a: { type: 'number' } } }, { type: 'string' }] },
          map: { type: 'object', additionalProperties: { type: 'integer' } },
          both: {
            allOf: [
              { type: 'object', properties: { x: { type: 'string' } } },
              { properties: { y: { enum: [1, 2] } } },
            ],
          },
        },
      },
    },
  },
}

const reference = readReference(document)
const operation = (id: string): Operation => {
  const found = reference.groups.flatMap((group) => group.operations).find((entry) => entry.id === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}
const draft = {
  path: { id: 'dom_1/2' },
  query: { q: 'a b', empty: '' },
  header: {},
  body: `{"it's":1}`,
  files: [],
  key: 'wdp_x',
}

describe('the API reference', () => {
  test('groups operations by tag and reads scopes from either place', () => {
    expect(reference.groups.map((group) => [group.tag, group.operations.length])).toEqual([
      ['Domains', 1],
      ['Other', 2],
    ])
    expect(operation('get-v1-domains-id').scope).toBe('domains:read')
    expect(operation('patch-v1-domains-id').scope).toBe('domains:write')
    expect(reference.scopes).toEqual([{ scope: 'a:read', description: 'A' }])
  })

  test('leaves out the form copies of a JSON body and follows references', () => {
    expect(operation('patch-v1-domains-id').body?.content.map((content) => content.type)).toEqual([
      'application/json',
    ])
    expect(operation('post-v1-reports-upload').answers[0]?.description).toBe('Kept')
  })

  test('finds operations by every word', () => {
    expect(searchGroups(reference.groups, 'one GET')[0]?.operations).toHaveLength(1)
    expect(searchGroups(reference.groups, 'one upload')).toEqual([])
  })

  test('shows a schema that holds itself, unions, nullables, maps and merged parts', () => {
    const shape = readShape(document, { $ref: '#/components/schemas/Node' })
    const member = (name: string) => shape.members.find((entry) => entry.name === name)?.shape
    expect(member('name')).toMatchObject({
      label: 'string',
      nullable: true,
      bounds: ['at most 20 characters'],
    })
    expect(member('size')).toMatchObject({ label: 'integer', bounds: ['1 to 500'], variants: [] })
    expect(member('state')).toMatchObject({ label: 'string', nullable: true, values: ['on', 'off'] })
    expect(member('children')).toMatchObject({ label: 'array of Node, as above', members: [] })
    expect(member('any')?.variants).toHaveLength(2)
    expect(member('map')?.rest?.label).toBe('integer')
    expect(member('both')?.members.map((entry) => entry.name)).toEqual(['x', 'y'])
    expect(shape.members.filter((entry) => entry.required).map((entry) => entry.name)).toEqual(['name'])
  })

  test('builds an example that ends', () => {
    expect(exampleOf(document, { $ref: '#/components/schemas/Node' })).toMatchObject({
      size: '',
      state: 'on',
      both: { x: '', y: 1 },
    })
  })

  test('makes the path, the request and the curl line of a draft', () => {
    expect(requestPath(operation('get-v1-domains-id'), draft)).toBe('/v1/domains/dom_1%2F2?q=a+b')
    expect(requestPath(operation('get-v1-domains-id'), { path: {}, query: {} })).toBe('/v1/domains/{id}')
    const init = requestInit(operation('patch-v1-domains-id'), draft)
    expect(new Headers(init.headers).get('authorization')).toBe('Bearer wdp_x')
    expect(init).toMatchObject({ method: 'PATCH', body: draft.body, credentials: 'omit' })
    expect(requestInit(operation('post-v1-reports-upload'), { ...draft, key: '' })).toMatchObject({
      credentials: 'same-origin',
    })
    expect(curlSample(operation('patch-v1-domains-id'), 'https://w', draft)).toContain(`-d '{"it'\\''s":1}'`)
    expect(curlSample(operation('post-v1-reports-upload'), '', draft)).toContain('-F')
  })

  test('shows events that are sent to webhooks as a group of their own', () => {
    const body = { content: { 'application/json': { schema: { type: 'object' } } } }
    const events = readReference({
      webhooks: { PHISHING_REPORTED: { post: { requestBody: body, responses: {} } } },
    })
    expect(events.groups[0]).toMatchObject({
      tag: 'Events',
      operations: [{ kind: 'event', path: 'PHISHING_REPORTED' }],
    })
  })

  test('reads an empty or odd document without failing', () => {
    expect(readReference({}).groups).toEqual([])
    expect(readReference({ paths: { '/a': { get: null, post: {} } } }).groups[0]?.operations).toHaveLength(1)
    expect(readShape({}, { $ref: '#/nowhere' }).label).toBe('any')
  })
})

describe('descriptions in Markdown', () => {
  test('become blocks', () => {
    const blocks = readBlocks(
      '# A\ntext\nmore\n\n- one\n- two\n  on\n\n```\ncode\n```\n| a | b |\n|---|---|\n| 1 | 2 |',
    )
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'A' },
      { kind: 'paragraph', text: 'text more' },
      { kind: 'list', ordered: false, items: ['one', 'two on'] },
      { kind: 'code', text: 'code' },
      { kind: 'table', head: ['a', 'b'], rows: [['1', '2']] },
    ])
  })

  test('make links only of safe addresses', () => {
    expect(readSpans('see [x](javascript:1) and [y](/docs) `z`').map((span) => span.kind)).toEqual([
      'text',
      'link',
      'text',
      'code',
    ])
  })
})
