// An ES module that imports `node:http` makes Node look at each of its exports, and one of them (WebSocket) then loads all of fetch. This way it
// looks at nothing.
module.exports = process.getBuiltinModule('node:http');
