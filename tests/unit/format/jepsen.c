/* Jepsen and Elle histories, EDN and JSON: pairing, statuses, shapes of values, mistakes, writing. */
#include "tests/unit/format/describe.h"

static void both(const char *edn, const char *json, const char *wanted) {
  expect_history(edn, "edn", wanted);
  expect_history(json, "json", wanted);
}

static void list_append(void **state) {
  (void)state;
  both("{:index 0, :time 0, :type :invoke, :process 1, :f :txn, :value [[:append 1 1] [:r 2 nil]]}\n"
       "{:index 1, :time 9, :type :ok, :process 1, :f :txn, :value [[:append 1 1] [:r 2 [1 3]]]}\n"
       "{:index 2, :time 10, :type :ok, :process 2, :f :txn, :value ((:append 2 1) (:append 2 3))}\n",
       "[{\"index\":0,\"time\":0,\"type\":\"invoke\",\"process\":1,\"f\":\"txn\",\"value\":[[\"append\",1,1],[\"r\",2,"
       "null]]},"
       "{\"index\":1,\"time\":9,\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"append\",1,1],[\"r\",2,[1,3]]"
       "]},\n"
       "{\"index\":2,\"time\":10,\"type\":\"ok\",\"process\":2,\"f\":\"txn\",\"value\":[[\"append\",2,1],[\"append\",2,"
       "3]]}]",
       "1 committed 0..9 #0..1 append(1,1) read-list(2,[1 3])\n"
       "2 committed -..- #-..2 append(2,1) append(2,3)\n");
}

static void other_kinds(void **state) {
  (void)state;
  expect_history("[{:type :ok :process 0 :value [[:w :x 1] [:r :x 1] [:r :x nil]]}\n"
                 " {:type :ok :process 0 :value [[:add 5 1] [:r 5 #{1}] [:inc 6 -2] [:r 6 -2] [:r 6 nil]]}]",
                 "edn",
                 "0 committed -..- #-..0 w(:x,1) r(:x,1) r(:x,nil)\n"
                 "0 committed -..- #-..1 add(5,1) read-set(5,[1]) inc(6,-2) read-counter(6,-2) read-counter(6,nil)\n");
  expect_history("{\"type\":\"ok\",\"process\":0,\"value\":[[\"add\",5,1],[\"r\",5,[1]],[\"r\",5,null]]}", "json",
                 "0 committed -..- #-..0 add(5,1) read-set(5,[1]) read-set(5,nil)\n");
}

static void statuses(void **state) {
  (void)state;
  both(
      "{:type :invoke :process 0 :f :txn :value [[:r 1 nil] [:w 2 5]]}"
      "{:type :fail :process 0 :f :txn :value [[:r 1 nil] [:w 2 5]]}"
      "{:type :invoke :process 0 :f :txn :value [[:r 1 nil] [:w 2 6]]}"
      "{:type :info :process 0 :f :txn :value [[:r 1 3] [:w 2 6]] :error :timeout}"
      "{:type :invoke :process 3 :f :txn :value [[:r 1 nil] [:w 2 7]]}"
      "{:type :invoke :process 4 :f :txn :value [[:r 1 9] [:w 2 8]]}"
      "{:type :ok :process 4 :f :txn :value [[:r 1] [:w 2 8]]}",
      "{\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,null],[\"w\",2,5]]}\n"
      "{\"type\":\"fail\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,null],[\"w\",2,5]]}\n"
      "{\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,null],[\"w\",2,6]]}\n"
      "{\"type\":\"info\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,3],[\"w\",2,6]],\"error\":[\"timeout\",{}]}\n"
      "{\"type\":\"invoke\",\"process\":3,\"f\":\"txn\",\"value\":[[\"r\",1,null],[\"w\",2,7]]}\n"
      "{\"type\":\"invoke\",\"process\":4,\"f\":\"txn\",\"value\":[[\"r\",1,9],[\"w\",2,8]]}\n"
      "{\"type\":\"ok\",\"process\":4,\"f\":\"txn\",\"value\":[[\"r\",1],[\"w\",2,8]]}\n",
      "0 aborted -..- #0..1 r(1,?) w(2,5)\n"
      "0 unknown -..- #2..3 r(1,3) w(2,6)\n"
      "3 unknown -..- #4..- r(1,?) w(2,7)\n"
      "4 committed -..- #5..6 r(1,nil) w(2,8)\n");
}

static void missing_values(void **state) {
  (void)state;
  /* The completion says nothing: what was invoked counts, and nobody knows what was read. */
  expect_history("{:type :invoke :process 0 :f :txn :value [[:r 1 nil] [:w 2 5]]}"
                 "{:type :ok :process 0 :f :txn :value nil}"
                 "{:type :invoke :process 0 :f :txn :value [[:w 2 6]]}"
                 "{:type :info :process 0 :f :txn :value :timed-out}"
                 "{:type :invoke :process 0 :f :txn}"
                 "{:type :ok :process 0 :f :txn :value [[:r 2 6]]}"
                 "{:type :invoke :process 1 :f :txn :value nil}"
                 "{:type :fail :process 1 :f :txn :value nil}",
                 "edn",
                 "0 committed -..- #0..1 r(1,?) w(2,5)\n"
                 "0 unknown -..- #2..3 w(2,6)\n"
                 "0 committed -..- #4..5 r(2,6)\n");
}

static void skipped(void **state) {
  (void)state;
  expect_history("{:process :nemesis :type :info :f :start :value [:n1 :n2]}"
                 "{:process :nemesis :type :info :f :start :value {:cut [[1] [2]]}}"
                 "{:process :nemesis :type :info :value \"note\"}"
                 "{:process 0 :type :invoke :f :read :value nil}"
                 "{:value [[:foo 1 2]] :process 0 :type :ok :f :read}"
                 "{:process 0 :type :invoke :f :txn :value 5}"
                 "{:process 0 :type :ok :f :txn :value 6}"
                 "{:process 1 :type :ok :value [[:w 1 1]] :extra {:deep [#{1}]} \"more\" 1 [1] 2}",
                 "edn", "1 committed -..- #-..7 w(1,1)\n");
}

static void names(void **state) {
  (void)state;
  expect_history("{\"type\" \"ok\" \"process\" \"a\" \"value\" [[\"w\" \"k\" 1] [w :k -7] [:w sym 1.5] [:w 5N 7/2]]}"
                 "{:type :ok :process nil :value [[:r 18446744073709551615 nil]]}"
                 "{:type ok :process :p :value [[:w 99999999999999999999 -3] [:w \\a true]] :index 5 :time 7}",
                 "edn",
                 "\"a committed -..- #-..0 w(\"k,1) w(:k,-7) w('sym,'1.5) w(5,'7/2)\n"
                 "nil committed -..- #-..1 r(+18446744073709551615,nil)\n"
                 ":p committed -..- #-..5 w('99999999999999999999,-3) w('\\a,'true)\n");
  /* The last of equal keys counts. */
  expect_history("{:type :fail :type :ok :process 0 :value [[:w 1 1]] :process 1 :value [[:w 1 2]]}", "edn",
                 "1 committed -..- #-..0 w(1,2)\n");
  expect_history(
      "#jepsen.history.Op{:index 0, :time 3, :type :invoke, :process 0, :f :txn, :value [[:w 1 1]]}\r\n"
      "; note\r\n#_{:bad 1} #jepsen.history.Op{:index -1, :time 4, :type :ok, :process 0, :value [[:w 1 1]]}",
      "edn", "0 committed 3..4 #0..1 w(1,1)\n");
}

static void empty(void **state) {
  (void)state;
  expect_history("", "edn", "");
  expect_history("[]", "json", "");
  expect_history("{:type :ok :process 0 :value []}", "edn", "0 committed -..- #-..0\n");
}

/* A process that does several things at once: completions find their invocations by what they do. */
static void overlapping(void **state) {
  (void)state;
  expect_history("{:type :invoke :process 0 :value [[:r 1 nil]]}\n"
                 "{:type :invoke :process 0 :value [[:w 1 2]]}\n"
                 "{:type :invoke :process 0 :value [[:w 1 3]]}\n"
                 "{:type :ok :process 0 :value [[:w 1 2]]}\n"
                 "{:type :ok :process 0 :value [[:r 1 2]]}\n",
                 "edn",
                 "0 committed -..- #1..3 w(1,2)\n"
                 "0 committed -..- #0..4 r(1,2)\n"
                 "0 unknown -..- #2..- w(1,3)\n");
}

/* Lists that begin like earlier ones of their key, or nearly. */
static void similar_lists(void **state) {
  (void)state;
  char padded[2048];
  snprintf(
      padded, sizeof padded, "%s%400s",
      "{:type :ok :process 0 :value [[:r 1 [1 2 3]] [:r 1 [1 2]] [:r 1 [1 2 3 4]] [:r 1 []] [:r 1 [1 2 3 4 5 6]]]}\n"
      "{:type :ok :process 0 :value [[:r 1 [1 22]] [:r 1 [1 2 3 44]] [:r 1 [1 2 3 4 5 67]] [:r 1 [12]] [:r 1 [1]]]}\n"
      "{:type :ok :process 0 :value [[:r 1 (1 2 3)] [:r 1 [1 2 3, 4]] [:r 1 [1 2  3]] [:r 1 [1 2 #_9 3]]]}\n"
      "{:type :ok :process 0 :value [[:r 513 [1 2]] [:r 1 [1 2 3]] [:r 513 [1 2 :x]] [:r 513 [1 2 3]]]}\n",
      " ");
  expect_history(
      padded, "edn",
      "0 committed -..- #-..0 read-list(1,[1 2 3]) read-list(1,[1 2]) read-list(1,[1 2 3 4]) read-list(1,[]) "
      "read-list(1,[1 2 3 4 5 6])\n"
      "0 committed -..- #-..1 read-list(1,[1 22]) read-list(1,[1 2 3 44]) read-list(1,[1 2 3 4 5 67]) "
      "read-list(1,[12]) read-list(1,[1])\n"
      "0 committed -..- #-..2 read-list(1,[1 2 3]) read-list(1,[1 2 3 4]) read-list(1,[1 2 3]) read-list(1,[1 2 3])\n"
      "0 committed -..- #-..3 read-list(513,[1 2]) read-list(1,[1 2 3]) read-list(513,[1 2 :x]) "
      "read-list(513,[1 2 3])\n");
}

/* Rows, queries and initial states. */
static void rows(void **state) {
  (void)state;
  both("{:type :ok :process 0 :f :init :value {1 0, 2 5}}\n"
       "{:type :ok :process 1 :f :txn :value [[:insert 3 1] [:delete 1] [:delete 2 nil] [:rp [:= 5] {2 5}] [:rp "
       ":true]]}\n",
       "{\"type\":\"ok\",\"process\":0,\"f\":\"init\",\"value\":{\"1\":0,\"2\":5}}\n"
       "{\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"insert\",3,1],[\"delete\",1],[\"delete\",2,null],"
       "[\"rp\",[\"=\",5],{\"2\":5}],[\"rp\",\"true\"]]}\n",
       "0 committed -..- #-..0 read-predicate('init,?) w(1,0) w(2,5)\n"
       "1 committed -..- #-..1 w(3,1) w(1,:elle/dead) w(2,:elle/dead) read-predicate('= 5,[2 5]) "
       "read-predicate('true,?)\n");
  expect_error("{:type :ok :process 0 :value [[:rp {} {}]]}", "edn", ISOPROOF_ERR_FORMAT, 1, "a predicate");
  expect_error("{:type :ok :process 0 :value [[:rp :true [1]]]}", "edn", ISOPROOF_ERR_FORMAT, 1, "the rows found");
  expect_error("{:type :ok :process 0 :value [[:rp :true {1 [2]}]]}", "edn", ISOPROOF_ERR_FORMAT, 1,
               "the value of a row");
}

static void mistakes(void **state) {
  (void)state;
  const isoproof_status f = ISOPROOF_ERR_FORMAT;
  char many[80000] = "";
  size_t used = 0;
  for (int i = 0; i < 1002; i++) {
    used += (size_t)snprintf(many + used, sizeof many - used, "{:type :invoke :process 0 :value [[:w 1 %d]]}\n", i);
  }
  expect_error(many, "edn", f, 1002, "invoked in line 1001, found another");
  expect_error("{:type :invoke :process :a :value []}\n{:type :ok :process :a :value []}\n"
               "{:type :ok :process :a :value []}",
               "edn", f, 3, "process :a before its next completion");
  expect_error("{:type :ok :process 0\n :value [[:foo 1 2]]}", "edn", f, 2, "a micro-operation");
  /* Another workload; what the nemesis does is none, and beside transactions everything may stand. */
  const char *nemesis = "{:type :info :process :nemesis :f :kill :value nil}\n";
  expect_error("{:type :info :process :nemesis :f :kill :value nil}\n{:type :ok :process 0 :f :add :value 1}", "edn", f,
               2, "found only single operations");
  expect_history(nemesis, "edn", "");
  expect_history("{:type :ok :process 0 :f :add :value 1} {:type :ok :process 0 :f :txn :value [[:w 1 2]]}", "edn",
                 "0 committed -..- #-..1 w(1,2)\n");
  expect_error("{:type :ok :process 0 :value [[:r [1] 2]]}", "edn", f, 1, "a key");
  expect_error("{:type :ok :process 0 :value [[:r {1 2} 2]]}", "edn", f, 1, "a key");
  expect_error("{:type :ok :process 0 :value [[:r nil 2]]}", "edn", f, 1, "a key");
  expect_error("{:type :ok :process 0 :value [[:r 1 [1 nil]]]}", "edn", f, 1, "an element");
  expect_error("{:type :ok :process 0 :value [[:r 1 [1 [2]]]]}", "edn", f, 1, "an element");
  expect_error("{:type :ok :process 0 :value [[:r 1 {1 2}]]}", "edn", f, 1, "what was read");
  expect_error("{:type :ok :process 0 :value [[:w 1 nil]]}", "edn", f, 1, "the value written");
  expect_error("{:type :ok :process 0 :value [[:w 1]]}", "edn", f, 1, "the value written");
  expect_error("{:type :ok :process 0 :value [[:w 1 2 3]]}", "edn", f, 1, "the end of the micro-operation");
  expect_error("{:type :ok :process 0 :value [[:inc 1 :x]]}", "edn", f, 1, "the amount");
  expect_error("{:type :ok :process 0 :value [[:r]]}", "edn", f, 1, "a key");
  expect_error("{:type :weird :process 0 :value []}", "edn", f, 1, "a type");
  expect_error("{:process 0 :value []}", "edn", f, 1, "a type");
  expect_error("{:type :ok :process [0] :value []}", "edn", f, 1, "a process");
  expect_error("{:type :ok :process 0 :time 1.5 :value []}", "edn", f, 1, "a time");
  expect_error("{:type :ok :process 0 :index :x :value []}", "edn", f, 1, "an index");
  expect_error("{:type :invoke :process 0 :value [[:w 1 1]]}\n{:type :ok :process 0 :value 5}", "edn", f, 2,
               "micro-operations");
  expect_error("[[{:type :ok}]]", "edn", f, 1, "an operation (a map)");
  expect_error("5", "json", f, 1, "an operation (a map)");
  expect_error("{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,[1,]]]}", "json", f, 1, "a JSON value");
  expect_error("[{\"type\":\"ok\"", "json", f, 1, "the end of the input");
  char deep[400] = "{:type :ok :value ";
  memset(deep + strlen(deep), '[', 300);
  expect_error(deep, "edn", ISOPROOF_ERR_LIMIT, 1, "nested");
}

static const char sample[] =
    "{:index 0, :time 5, :type :invoke, :process 1, :f :txn, :value [[:append 1 1] [:r \"k\\n\" nil]]}\r\n"
    "{:index 1, :time 9, :type :ok, :process 1, :f :txn, :value [[:append 1 1] [:r \"k\\n\" [1 3 \"\xc3\xa4\"]]]}\r\n"
    "{:index 2, :time 10, :type :invoke, :process 2, :f :txn, :value [[:add 3 #_4 5] [:r 3 #{}]]}";

static void truncations(void **state) {
  (void)state;
  survive_truncation(sample, "edn");
  survive_truncation("[{\"index\":0,\"time\":1,\"type\":\"invoke\",\"process\":\"\\u00e4\",\"value\":[[\"w\",1,2.5]]},"
                     "{\"type\":\"ok\",\"process\":\"\\u00e4\",\"value\":[[\"w\",1,2.5],[\"r\",2,[1,2]]]}]\n",
                     "json");
}

static void writing(void **state) {
  (void)state;
  const char *edn =
      "{:index 0, :time 5, :type :invoke, :process 1, :f :txn, :value [[:append :x 1] [:r \"k\\n\" nil]]}\n"
      "{:index 1, :time 6, :type :invoke, :process :p, :f :txn, :value [[:append \"k\\n\" -3]]}\n"
      "{:index 2, :time 9, :type :ok, :process 1, :f :txn, :value [[:append :x 1] [:r \"k\\n\" [1 1.5]]]}\n"
      "{:index 7, :time 9, :type :invoke, :process 1, :f :txn, :value [[:add s 1] [:r s nil]]}\n"
      "{:index 8, :time 9, :type :ok, :process 1, :f :txn, :value [[:add s 1] [:r s #{1 true}]]}\n"
      "{:index 9, :type :fail, :process :p, :f :txn, :value [[:append \"k\\n\" -3]], :error :conflict, :node "
      "\"n1\", :id 4}\n"
      "{:index 10, :time 20, :type :invoke, :process 5, :f :txn, :value [[:r :x nil]]}\n";
  expect_written(
      edn, "edn", ISOPROOF_FORMAT_EDN,
      "{:index 0, :time 5, :type :invoke, :process 1, :f :txn, :value [[:append :x 1] [:r \"k\\n\" nil]]}\n"
      "{:index 1, :time 6, :type :invoke, :process :p, :f :txn, :value [[:append \"k\\n\" -3]], :node \"n1\", "
      ":id 4}\n"
      "{:index 2, :time 9, :type :ok, :process 1, :f :txn, :value [[:append :x 1] [:r \"k\\n\" [1 1.5]]]}\n"
      "{:index 7, :time 9, :type :invoke, :process 1, :f :txn, :value [[:add s 1] [:r s nil]]}\n"
      "{:index 8, :time 9, :type :ok, :process 1, :f :txn, :value [[:add s 1] [:r s #{1 true}]]}\n"
      "{:index 9, :type :fail, :process :p, :f :txn, :value [[:append \"k\\n\" -3]], :error :conflict, :node "
      "\"n1\", :id 4}\n"
      "{:index 10, :time 20, :type :invoke, :process 5, :f :txn, :value [[:r :x nil]]}\n");
  expect_written("{:type :invoke :process 3 :value [[:w :x 1]], :isolation :si}\n"
                 "{:type :ok :process 3 :value [[:w :x 1]]}\n"
                 "{:type :ok :process 4 :value [[:w :x 2]], :isolation \"Read Committed\"}",
                 "edn", ISOPROOF_FORMAT_EDN,
                 "{:index 0, :type :invoke, :process 3, :f :txn, :value [[:w :x 1]], :isolation :snapshot-isolation}\n"
                 "{:index 1, :type :ok, :process 3, :f :txn, :value [[:w :x 1]], :isolation :snapshot-isolation}\n"
                 "{:index 2, :type :ok, :process 4, :f :txn, :value [[:w :x 2]], :isolation :read-committed}\n");
  expect_written(
      "{:type :ok :process 3 :value [[:w :x -1] [:r \"y\" nil]]}", "edn", ISOPROOF_FORMAT_JSON,
      "{\"index\":0,\"type\":\"ok\",\"process\":3,\"f\":\"txn\",\"value\":[[\"w\",\"x\",-1],[\"r\",\"y\",null]]}\n");
  /* Without times there is no order in real time, and the file must not claim one. */
  expect_written("w(1,2,0,0)\nr(1,2,1,1)\nr(1,0,1,-1)\n", "plume", ISOPROOF_FORMAT_EDN,
                 "{:index 0, :type :ok, :process 0, :f :txn, :value [[:w 1 2]], :id 0}\n"
                 "{:index 1, :type :ok, :process 1, :f :txn, :value [[:r 1 2]], :id 1}\n"
                 "{:index 2, :type :fail, :process 1, :f :txn, :value [[:r 1 nil]], :initial-reads true}\n");
}

static void exact_reads(void **state) {
  (void)state;
  expect_history("{:type :info :process 0 :value [[:r 1 nil] [:r 2] [:w 3 1]] :initial-reads true}", "edn",
                 "0 unknown -..- #-..0 r(1,nil) r(2,?) w(3,1)\n");
  expect_history("{:type :info :process 0 :value [[:r 1 nil] [:r 2] [:w 3 1]] :index nil}", "edn",
                 "0 unknown -..- #-..- r(1,?) r(2,?) w(3,1)\n");
}

static void unwritable(void **state) {
  (void)state;
  expect_unwritable("{:type :ok :process 0 :value [[:w :x 1] [:w \"x\" 1]]}", "edn", ISOPROOF_FORMAT_JSON, "keyword");
  expect_unwritable("{:type :ok :process 0 :value [[:w 1 x] [:w 2 \"x\"]]}", "edn", ISOPROOF_FORMAT_JSON, "symbol");
  expect_unwritable("w(1,0,0,0)\n", "plume", ISOPROOF_FORMAT_EDN, "a write of 0");
  expect_unwritable("{\"isoproof\":1}\n{\"session\":0,\"status\":\"committed\",\"ops\":[[\"r\",1,{\"none\":true}]]}",
                    "jsonl", ISOPROOF_FORMAT_EDN, "not known");
  expect_unwritable("{\"isoproof\":1}\n{\"session\":0,\"status\":\"committed\",\"ops\":[[\"read-set\",1,[1]]]}",
                    "jsonl", ISOPROOF_FORMAT_JSON, "which kind of read");
  expect_unwritable("{\"isoproof\":1}\n{\"session\":{\"keyword\":\"a b\"},\"status\":\"committed\",\"ops\":[]}",
                    "jsonl", ISOPROOF_FORMAT_EDN, "the text");
  /* The same text in different roles is no problem. */
  expect_written("{:type :ok :process :x :value [[:w \"x\" 1]]}", "edn", ISOPROOF_FORMAT_JSON,
                 "{\"index\":0,\"type\":\"ok\",\"process\":\"x\",\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}\n");
}

/* What the format's own order cannot say, the lines still do: written, read and written again is the same. */
static void partial_times(void **state) {
  (void)state;
  static const char text[] =
      "{\"isoproof\":1}\n"
      "{\"session\":0,\"status\":\"committed\",\"start\":5,\"end\":9,\"ops\":[[\"w\",1,1]]}\n"
      "{\"session\":0,\"status\":\"unknown\",\"start\":9,\"ops\":[[\"r\",1,{\"none\":true}],[\"w\",1,2]]}\n"
      "{\"session\":0,\"status\":\"committed\",\"end\":12,\"ops\":[[\"r\",1,null]]}\n"
      "{\"session\":0,\"status\":\"aborted\",\"ops\":[[\"r\",1,null],[\"r\",2,{\"none\":true}]]}\n"
      "{\"session\":1,\"status\":\"unknown\",\"start\":3,\"start_index\":8,\"ops\":[[\"w\",1,3]]}\n"
      "{\"session\":2,\"status\":\"unknown\",\"ops\":[[\"r\",1,null]]}\n";
  isoproof_error error = {0};
  isoproof_history *first, *second;
  static const isoproof_format formats[] = {ISOPROOF_FORMAT_EDN, ISOPROOF_FORMAT_JSON};
  for (int i = 0; i < 2; i++) {
    bytes written = {0}, a = {0}, b = {0};
    assert_int_equal(open_bytes(text, strlen(text), "jsonl", &first, &error), ISOPROOF_OK);
    if (write_bytes(first, formats[i], false, &written, NULL, &error) != ISOPROOF_OK) fail_msg("%s", error.message);
    isoproof_status status = open_bytes(written.data, written.count, i == 0 ? "edn" : "json", &second, &error);
    if (status != ISOPROOF_OK) fail_msg("%.*s: %s", (int)written.count, written.data, error.message);
    describe(&a, first);
    describe(&b, second);
    /* Sessions come in the order of their first line. */
    assert_int_equal(a.count, b.count);
    for (const char *line = a.data; *line != '\0'; line = strchr(line, '\n') + 1) {
      char one[256];
      snprintf(one, sizeof one, "%.*s", (int)(strchr(line, '\n') - line), line);
      if (strstr(b.data, one) == NULL) fail_msg("%s is not in\n%s", one, b.data);
    }
    bytes_free(&written), bytes_free(&a), bytes_free(&b);
    isoproof_history_free(first), isoproof_history_free(second);
  }
}

/* Rows are written as they are read. */
static void rows_written(void **state) {
  (void)state;
  static const char text[] =
      "{:index 0, :type :ok, :process 0, :f :init, :value {1 0, 2 5}}\n"
      "{:index 1, :type :ok, :process 1, :f :txn, :value [[:w 3 1] [:delete 1] [:rp [:= 5] {2 5, 3 1}] [:rp :true nil] "
      "[:rp [:mod 2 -1] {}]]}\n"
      "{:index 2, :type :info, :process 2, :f :txn, :value [[:rp :true nil] [:r 3 1]]}\n";
  static const char json[] =
      "{\"index\":0,\"type\":\"ok\",\"process\":0,\"f\":\"init\",\"value\":{\"1\":0,\"2\":5}}\n"
      "{\"index\":1,\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"w\",3,1],[\"delete\",1],[\"rp\",[\"=\",5]"
      ","
      "{\"2\":5,\"3\":1}],[\"rp\",\"true\",null],[\"rp\",[\"mod\",2,-1],{}]]}\n"
      "{\"index\":2,\"type\":\"info\",\"process\":2,\"f\":\"txn\",\"value\":[[\"rp\",\"true\",null],[\"r\",3,1]]}\n";
  static const struct {
    const char *text, *format;
    isoproof_format number;
  } forms[] = {{text, "edn", ISOPROOF_FORMAT_EDN}, {json, "json", ISOPROOF_FORMAT_JSON}};
  for (size_t from = 0; from < 2; from++) {
    for (size_t to = 0; to < 2; to++) {
      isoproof_error error = {0};
      isoproof_history *history;
      bytes out = {0};
      assert_int_equal(open_bytes(forms[from].text, strlen(forms[from].text), forms[from].format, &history, &error),
                       ISOPROOF_OK);
      isoproof_status status = write_bytes(history, forms[to].number, false, &out, NULL, &error);
      if (status != ISOPROOF_OK) fail_msg("%s", error.message);
      put_byte(&out, '\0');
      assert_string_equal(out.data, forms[to].text);
      bytes_free(&out);
      isoproof_history_free(history);
    }
  }
}

static void lossy(void **state) {
  (void)state;
  static const char text[] = "{\"isoproof\":1}\n{\"session\":7}\n{\"session\":0,\"status\":\"committed\",\"ops\":"
                             "[[\"r\",1,{\"none\":true}],[\"w\",1,2],[\"read-predicate\",1,[1]]]}\n";
  isoproof_error error = {0};
  isoproof_history *history;
  isoproof_write_loss loss = {.struct_size = sizeof loss};
  bytes out = {0};
  assert_int_equal(open_bytes(text, strlen(text), "jsonl", &history, &error), ISOPROOF_OK);
  assert_int_equal(write_bytes(history, ISOPROOF_FORMAT_EDN, true, &out, &loss, &error), ISOPROOF_OK);
  put_byte(&out, '\0');
  assert_string_equal(out.data, "{:index 0, :type :ok, :process 0, :f :txn, :value [[:w 1 2]]}\n");
  assert_int_equal(loss.unrecorded_reads, 2);
  assert_true(loss.session_names);
  bytes_free(&out);
  isoproof_history_free(history);
}

/* The histories of Elle's own tests, where they are at hand: all but the two that are no histories are read. */
static void conformance(void **state) {
  (void)state;
  char path[1100];
  const char *shared = getenv("ISOPROOF_SHARED");
  snprintf(path, sizeof path,
           shared != NULL ? "%s/data/elle-conformance.jsonl" : "%s/../shared/data/elle-conformance.jsonl",
           shared != NULL ? shared : ISOPROOF_SOURCE_ROOT);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    print_message("skipped: no %s\n", path);
    return;
  }
  char *line = NULL;
  size_t capacity = 0;
  unsigned readable = 0, refused = 0;
  for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
    const char *history_text = strstr(line, "\"history\": [");
    if (history_text == NULL) continue;
    history_text += strlen("\"history\": ");
    isoproof_error error;
    isoproof_history *history;
    size_t size = (size_t)(line + length - history_text);
    while (size > 0 && history_text[size - 1] != ']') size--;
    if (open_bytes(history_text, size, "json", &history, &error) == ISOPROOF_OK) {
      readable++;
      (void)touch_history(history);
      isoproof_history_free(history);
    } else {
      refused++;
      print_message("refused: %.60s: %s\n", line, error.message);
    }
  }
  free(line);
  fclose(file);
  print_message("%u histories read, %u refused\n", readable, refused);
  assert_true(readable >= 130);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(list_append),    cmocka_unit_test(other_kinds),   cmocka_unit_test(statuses),
      cmocka_unit_test(missing_values), cmocka_unit_test(skipped),       cmocka_unit_test(names),
      cmocka_unit_test(empty),          cmocka_unit_test(overlapping),   cmocka_unit_test(similar_lists),
      cmocka_unit_test(rows),           cmocka_unit_test(rows_written),  cmocka_unit_test(mistakes),
      cmocka_unit_test(truncations),    cmocka_unit_test(writing),       cmocka_unit_test(exact_reads),
      cmocka_unit_test(unwritable),     cmocka_unit_test(partial_times), cmocka_unit_test(lossy),
      cmocka_unit_test(conformance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
