(ns checker-test
  "The checker for Jepsen on real runs of isoproof: every workload, valid and not, and everything that can go wrong."
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :refer [deftest is run-tests]]
            [isoproof.checker :as isoproof]
            [jepsen.checker :as checker]))

(def program (System/getenv "ISOPROOF"))
(def scratch (io/file (System/getenv "SCRATCH")))

;; As Jepsen's own operations, records that print with a tag.
(defrecord Op [index time type process f value])

(defn history
  "Operations one after the other, each with its end: [process f value-of-invocation type value-of-completion]."
  [& ops]
  (vec (mapcat (fn [i [process f asked type answered]]
                 [(->Op (* 2 i) (* 20 i) :invoke process f asked)
                  (->Op (inc (* 2 i)) (+ 10 (* 20 i)) type process f answered)])
               (range) ops)))

(defn did [process f value] [process f value :ok value])
(defn saw [process f value] [process f nil :ok value])
(defn txn [process value] [process :txn value :ok value])

(defn parse-long* [text] (when (re-matches #"-?\d+" text) (Long/parseLong text)))

(def counter (atom 0))

(defn check [options history]
  (let [test {:store (io/file scratch (str "test-" (swap! counter inc)))}]
    (checker/check (isoproof/checker (merge {:isoproof program} options)) test history {})))

(def cases
  "Workload, options, a valid history, one that is not."
  [[:list-append {:consistency-models [:serializable]}
    (history (txn 0 [[:append :x 1]]) (txn 1 [[:r :x [1]] [:append :x 2]]) (txn 0 [[:r :x [1 2]]]))
    (history (txn 0 [[:append :x 1] [:append :y 1]]) (txn 1 [[:r :x []] [:r :y [1]]]))]
   [:rw-register {}
    (history (txn 0 [[:w :x 1]]) (txn 1 [[:r :x 1]]))
    (history (txn 0 [[:w :x 1]]) (txn 1 [[:r :x nil]]) (txn 1 [[:r :x 1]]) (txn 0 [[:r :x nil]]))]
   [:closed-predicate {:consistency-models [:serializable]}
    (history (did 0 :init {:x 0}) (txn 0 [[:insert :y 1]]) (txn 1 [[:rp :true {:x 0 :y 1}] [:delete :x]]) (txn 0 [[:rp [:= 1] {:y 1}]]))
    (history (did 0 :init {:x 0 :y 0}) (txn 0 [[:rp [:= 1] {}] [:w :x 1]]) (txn 1 [[:rp [:= 1] {}] [:w :y 1]]))]
   [:bank {:total-amount 10}
    (history (saw 0 :read {0 5 1 5}) (did 1 :transfer {:from 0 :to 1 :amount 2}) (saw 0 :read {0 3 1 7}))
    (history (saw 0 :read {0 5 1 5}) (saw 0 :read {0 5 1 6}))]
   [:set {}
    (history (did 0 :add 1) (saw 1 :read #{1}))
    (history (did 0 :add 1) (saw 1 :read #{}))]
   [:set-full {}
    (history (did 0 :add 1) (saw 1 :read #{1}))
    (history (did 0 :add 1) (saw 1 :read #{1}) (saw 1 :read #{}))]
   [:counter {}
    (history (did 0 :add 2) (saw 1 :read 2))
    (history (did 0 :add 2) (saw 1 :read 3))]
   [:long-fork {}
    (history (did 0 :write [[:w 1 1]]) (saw 1 :read [[:r 1 1] [:r 2 nil]]))
    (history (did 0 :write [[:w 1 1]]) (did 1 :write [[:w 2 1]]) (saw 2 :read [[:r 1 1] [:r 2 nil]])
             (saw 3 :read [[:r 1 nil] [:r 2 1]]))]
   [:sequential {}
    (history (did 0 :add [1 0]) (saw 1 :read [1 [nil 0]]))
    (history (did 0 :add [1 0]) (saw 1 :read [1 [1 nil]]))]
   [:comments {}
    (history (did 0 :write 1) (did 1 :write 2) (saw 2 :read #{1 2}))
    (history (did 0 :write 1) (did 1 :write 2) (saw 2 :read #{2}))]
   [:cas-register {}
    (history (did 0 :write 1) (did 1 :cas [1 2]) (saw 2 :read 2))
    (history (did 0 :write 1) (did 1 :cas [1 2]) (saw 2 :read 1))]
   [:mutex {}
    (history (did 0 :acquire nil) (did 0 :release nil) (did 1 :acquire nil))
    (history (did 0 :acquire nil) (did 1 :acquire nil))]])

(deftest every-workload
  (is (= (disj (into isoproof/object-workloads isoproof/transaction-workloads) :auto)
         (set (map first cases))))
  (doseq [[workload options good bad] cases]
    (let [found (check (assoc options :workload workload) good)]
      (is (true? (:valid? found)) (str workload " " found)))
    (let [found (check (assoc options :workload workload) bad)]
      (is (false? (:valid? found)) (str workload " " found))
      (is (not (str/blank? (:explanation found))) (str workload " " found)))))

(deftest reports-are-in-the-store
  (let [[_ options _ bad] (first cases)
        found (check (assoc options :workload :list-append) bad)]
    (is (= #{:json :html :svg} (set (keys (:files found)))))
    (is (= [:G-single-item] (:anomaly-types found)))
    (is (some #{"repeatable-read"} (:not found)))
    (is (.exists (io/file scratch (str "test-" @counter) "isoproof" "report.html")))
    (is (str/includes? (slurp (:html (:files found))) "<html"))
    (is (str/includes? (slurp (:svg (:files found))) "<svg"))))

(deftest levels
  (let [stale (history (txn 0 [[:w :x 1]]) (txn 1 [[:r :x nil]]))]
    (is (false? (:valid? (check {:levels [:linearizable]} stale))))
    (is (true? (:valid? (check {:levels [:serializable]} stale))))))

(deftest a-store-directory
  (let [store (io/file scratch "store" "latest")]
    (isoproof/write-history! (nth (first cases) 3) (io/file store "history.edn"))
    (is (false? (:valid? (isoproof/check-store store {:isoproof program :consistency-models [:serializable]}))))
    (is (.exists (io/file store "isoproof" "result.json")))
    (is (= :unknown (:valid? (isoproof/check-store scratch {:isoproof program}))))))

;; ---- the version of Elle that docs/jepsen.md names ----

(def elle-cases
  "Elle's own tests with its answers, where they are at hand."
  (some-> (System/getenv "ISOPROOF_SHARED") (io/file "data" "elle-conformance.jsonl")))

(def elle-differences
  "Tests whose answer is not ours, see docs/elle.md."
  #{"elle.rw-register-test/type-sanity #1"})

(defn as-clojure
  "What Jepsen has instead of JSON: keywords, and integers as keys."
  [value]
  (cond
    (map? value)     (into {} (map (fn [[k v]] [(or (parse-long* (name k)) k) (as-clojure v)])) value)
    (vector? value)  (mapv as-clojure value)
    (string? value)  (keyword value)
    (integer? value) (long value)
    :else            value))

(defn elle-history [ops]
  (mapv (fn [{:keys [index time type process f value]}]
          (->Op (long index) (some-> time long) (keyword type) (as-clojure process) (keyword f) (as-clojure value)))
        ops))

(deftest elle's-own-tests
  (when (some-> ^java.io.File elle-cases .exists)
    (with-open [lines (io/reader elle-cases)]
      (let [agreed (atom 0)]
        (doseq [{:keys [kind workload name options expected history]} (map isoproof/parse-json (line-seq lines))
                :when (and (= kind "check")
                           (isoproof/transaction-workloads (keyword workload))
                           (not (elle-differences name))
                           (not (:transaction-order options)))]
          (let [found (check (merge {:workload (keyword workload)}
                                    (as-clojure (select-keys options [:consistency-models :anomalies :wfr-keys? :sequential-keys? :linearizable-keys?])))
                             (elle-history history))]
            ;; Where nothing is inferred Elle says unknown: there is no cycle in a graph without edges.
            (when (is (= (not= false (:valid expected)) (:valid? found)) (str name " " found))
              (swap! agreed inc))))
        (println @agreed "of Elle's own tests agree")
        (is (< 80 @agreed))))))

(deftest what-can-go-wrong
  (let [good (nth (first cases) 2)]
    (let [found (check {:isoproof "/nonexistent/isoproof"} good)]
      (is (= :unknown (:valid? found)))
      (is (str/includes? (:error found) "cannot run isoproof")))
    (let [found (check {:arguments ["--no-such-option"]} good)]
      (is (= :unknown (:valid? found)))
      (is (str/includes? (:error found) "exit code 2")))
    (is (= :unknown (:valid? (check {:timeout 0.000001 :levels [:strict-serializable]} good))) "time is up")
    (is (= :unknown (:valid? (check {:workload :set} (history (did 0 :add 1))))) "nobody read the set")
    (is (= :unknown (:valid? (check {:workload :bank} (history (did 0 :jump 1))))) "no operation of a bank")
    (is (thrown? IllegalArgumentException (check {:workload :juggling} good)))))

(let [{:keys [fail error]} (run-tests 'checker-test)]
  (shutdown-agents)
  (System/exit (if (zero? (+ fail error)) 0 1)))
