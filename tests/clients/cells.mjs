// Shared by the Node programs of this folder: node PROGRAM BASE FOLDER, where FOLDER has node_modules. A case is a line for table.py:
// CELL, CASE and `ok` or what went wrong, with tabs between them.
import { createRequire } from "node:module";

export const [base, folder] = process.argv.slice(2);
export const v1 = base + "/v1", key = "secret", model = "any-name";
export const question = "What is the capital of France? Answer with one word.";
export const load = createRequire(folder + "/x.js");

export function must(good, why) {
  if (!good) throw new Error(typeof why === "string" ? why : JSON.stringify(why));
}

export async function run(cases) {
  for (const [cell, name, work] of cases) {
    let why = "ok";
    try {
      await work();
    } catch (e) {
      why = `${e.name}: ${e.message}`.replace(/\s+/g, " ").slice(0, 600);
    }
    console.log([cell, name, why].join("\t"));
  }
}

// Schemas that programs ask for, by zod: a list of [what it has, schema].
export function shapes(z) {
  return [
    ["dates and maps", z.object({ day: z.iso.date(), seats: z.record(z.string(), z.number().int()) })],
    ["tuples", z.object({ at: z.tuple([z.number(), z.number()]), kind: z.enum(["corner", "middle"]) })],
    ["any integer, ranged float, null", z.object({ count: z.number().int(), share: z.number().min(0).max(1), rank: z.literal([1, 2, 3]).nullable() })],
    ["unions", z.object({ pet: z.discriminatedUnion("kind", [z.object({ kind: z.literal("cat"), lives: z.int().positive() }), z.object({ kind: z.literal("dog"), loud: z.boolean() })]) })],
  ];
}
